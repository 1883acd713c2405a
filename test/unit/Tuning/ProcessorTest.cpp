//===- ProcessorTest.cpp - Bundles and libraries of other processors ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TestBundle.h"
#include "fact/Runtime/Cpu.h"
#include "fact/Runtime/Library.h"
#include "gtest/gtest.h"
#include <dlfcn.h>

using namespace fact::tuning;
using fact::runtime::cpuArchitecture;

static const char *const correct = "y[i] = 2.0f * x[i] + w[i];";

/// A bundle whose kernels need a feature that no processor has.
static void needWarpDrive(TestBundle &bundle) {
  bundle.addCandidate("good", correct);
  bundle.json["target"]["cpu"] = {{"architecture", cpuArchitecture()},
                                  {"name", "enterprise"},
                                  {"features", {"warp-drive"}}};
}

TEST(Processor, BundleOfAnotherArchitectureIsRefused) {
  TestBundle bundle;
  bundle.addCandidate("good", correct);
  bundle.json["target"]["cpu"] = {{"architecture", "pdp11"},
                                  {"name", "pdp-11/70"},
                                  {"features", Json::array()}};
  EXPECT_FALSE(bundle.tune({}).succeeded());
  EXPECT_NE(bundle.log.find("the bundle is for 'pdp-11/70' (pdp11), but this "
                            "machine is " +
                            std::string(cpuArchitecture())),
            std::string::npos)
      << bundle.log;
}

TEST(Processor, BundleOfMissingFeaturesIsRefused) {
  TestBundle bundle;
  needWarpDrive(bundle);
  EXPECT_FALSE(bundle.tune({}).succeeded());
  EXPECT_NE(bundle.log.find("it was compiled for a processor with warp-drive, "
                            "which this one lacks"),
            std::string::npos)
      << bundle.log;
}

TEST(Processor, LibraryOfMissingFeaturesIsRefused) {
  TestBundle bundle;
  needWarpDrive(bundle);
  // Measured where the feature is, as far as fact-tune can tell.
  fs::path launcher = bundle.folder() / "launch.sh";
  writeFile(launcher, "#!/bin/sh\n"
                      "[ \"$2\" = --machine ] && exec \"$1\" --machine\n"
                      "exec \"$@\"\n");
  fs::permissions(launcher, fs::perms::owner_all);
  fs::path output = bundle.folder() / "model.so";
  ASSERT_TRUE(bundle
                  .tune({"-o", output.string(), "--no-check", "--run-launcher",
                         launcher.string()})
                  .succeeded())
      << bundle.log;
  void *handle = dlopen(output.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr) << dlerror();
  auto entry =
      reinterpret_cast<const FactLibrary *(*)()>(dlsym(handle, "fact_library"));
  ASSERT_NE(entry, nullptr);
  const FactLibrary *library = entry();
  // What it is can be asked of it anywhere.
  EXPECT_NE(std::string(library->describe()).find("enterprise"),
            std::string::npos);
  EXPECT_EQ(library->create(nullptr, 0), nullptr);
  EXPECT_NE(std::string(library->last_error())
                .find("sample: it was compiled for a processor with "
                      "warp-drive, which this one lacks"),
            std::string::npos)
      << library->last_error();
  EXPECT_EQ(library->load("/nowhere.safetensors"), nullptr);
  EXPECT_NE(std::string(library->last_error()).find("warp-drive"),
            std::string::npos);
  dlclose(handle);
}
