//===- CurlLoader.cpp - libcurl, loaded when it is first called -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Static tools have these functions in place of libcurl's: the library and the
// cryptography behind it are the system's, which keeps them up to date, and
// only those who ask a model need them.
//
//===----------------------------------------------------------------------===//

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <curl/curl.h>
#include <dlfcn.h>
#include <initializer_list>

static void *openLibrary() {
  for (const char *name : {"libcurl.so.4", "libcurl-gnutls.so.4"})
    if (void *library = dlopen(name, RTLD_NOW))
      return library;
  std::fprintf(stderr,
               "error: a language model is asked through libcurl, which is not "
               "here (%s): install it (Debian: apt-get install libcurl4)\n",
               dlerror());
  std::exit(1);
}

template <typename Function> static Function *find(const char *name) {
  static void *const library = openLibrary();
  if (void *found = dlsym(library, name))
    return reinterpret_cast<Function *>(found);
  std::fprintf(stderr, "error: libcurl is too old: it has no '%s'\n", name);
  std::exit(1);
}

#define LOADED(name) find<decltype(name)>(#name)

// Macros that check the types of arguments.
#undef curl_easy_setopt
#undef curl_easy_getinfo

// `const` in newer versions, and not in older ones.
template <typename First, typename... Others>
static First getFirst(CURLUcode (*)(First, Others...));
using UrlParts = decltype(getFirst(&curl_url_get));

// libcurl declares these functions so.
#pragma GCC diagnostic ignored "-Wvarargs"

extern "C" {
CURLcode curl_global_init(long flags) {
  return LOADED(curl_global_init)(flags);
}
CURL *curl_easy_init() { return LOADED(curl_easy_init)(); }
CURLcode curl_easy_perform(CURL *handle) {
  return LOADED(curl_easy_perform)(handle);
}
void curl_easy_cleanup(CURL *handle) { LOADED(curl_easy_cleanup)(handle); }
const char *curl_easy_strerror(CURLcode code) {
  return LOADED(curl_easy_strerror)(code);
}
curl_slist *curl_slist_append(curl_slist *list, const char *text) {
  return LOADED(curl_slist_append)(list, text);
}
void curl_slist_free_all(curl_slist *list) {
  LOADED(curl_slist_free_all)(list);
}
CURLU *curl_url() { return LOADED(curl_url)(); }
void curl_url_cleanup(CURLU *parts) { LOADED(curl_url_cleanup)(parts); }
CURLUcode curl_url_set(CURLU *parts, CURLUPart part, const char *text,
                       unsigned flags) {
  return LOADED(curl_url_set)(parts, part, text, flags);
}
CURLUcode curl_url_get(UrlParts parts, CURLUPart part, char **text,
                       unsigned flags) {
  return LOADED(curl_url_get)(parts, part, text, flags);
}
void curl_free(void *memory) { LOADED(curl_free)(memory); }

// A long, a curl_off_t and any pointer are passed alike.
static_assert(sizeof(long) == sizeof(void *) &&
              sizeof(curl_off_t) == sizeof(void *));
CURLcode curl_easy_setopt(CURL *handle, CURLoption option, ...) {
  va_list arguments;
  va_start(arguments, option);
  void *value = va_arg(arguments, void *);
  va_end(arguments);
  return LOADED(curl_easy_setopt)(handle, option, value);
}
CURLcode curl_easy_getinfo(CURL *handle, CURLINFO info, ...) {
  va_list arguments;
  va_start(arguments, info);
  void *value = va_arg(arguments, void *);
  va_end(arguments);
  return LOADED(curl_easy_getinfo)(handle, info, value);
}
}
