//===- Products.cpp - Plain products that rank a kernel's candidates ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product with an epilogue takes nvcc about a minute per tile; the same
// product without one is compiled once for all sizes and all models. Where such
// objects are there, they are timed at the kernel's exact sizes, in one process
// and without verification, and the kernel's own candidates are compiled in
// that order. Nothing depends on them: what has no time is ranked by
// prediction.
//
//===----------------------------------------------------------------------===//

#include "Search.h"
#include <algorithm>

namespace fact {
namespace tuning {

namespace fs = std::filesystem;

static std::string productName(size_t index) {
  return "product-" + std::to_string(index);
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

void Tuner::compileProducts() {
  findTools();
  for (const Kernel &kernel : bundle.kernels) {
    if (!kernel.product || !isWanted(kernel))
      continue;
    std::set<fs::path> sources;
    for (size_t i = 0; i < kernel.product->candidates.size(); ++i)
      if (const Candidate &candidate = kernel.product->candidates[i];
          sources.insert(candidate.source).second)
        compileIntoCache(kernel, candidate, true, productName(i));
  }
}

//===----------------------------------------------------------------------===//
// The order of candidates
//===----------------------------------------------------------------------===//

std::string Tuner::hashOfProduct(const Kernel &kernel) const {
  ContentHash hash;
  hash.add("product").add(bundle.target.text());
  hash.add(kernel.product->result.text());
  for (uint32_t operand : kernel.product->operands)
    hash.add(kernel.operands[operand].text())
        .add(kernel.fixedOperands[operand] ? "fixed" : "");
  return hash.text();
}

Ranking Tuner::rankCandidates(const Kernel &kernel) const {
  ProductTimes times;
  if (!kernel.product || options.best == 0 || options.untuned)
    return rank(kernel, options, times);
  std::map<std::string, size_t> positions;
  for (size_t i = 0; i < kernel.candidates.size(); ++i)
    positions[kernel.candidates[i].key] = i;
  std::string hash = hashOfProduct(kernel);
  for (const Candidate &product : kernel.product->candidates)
    if (std::optional<Attempt> known = database->find(keyOf(hash, product)))
      times[positions.at(product.key)] = known->us;
  return rank(kernel, options, times);
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

std::map<size_t, fs::path> Tuner::takeProducts(const Kernel &kernel) const {
  std::map<size_t, fs::path> taken;
  std::map<fs::path, fs::path> compiled;
  std::string hash = hashOfProduct(kernel);
  for (size_t i = 0; i < kernel.product->candidates.size(); ++i) {
    const Candidate &candidate = kernel.product->candidates[i];
    if (!options.retune && database->find(keyOf(hash, candidate)))
      continue;
    if (candidate.source.empty()) {
      taken[i] = candidate.object;
      continue;
    }
    auto [entry, isNew] = compiled.try_emplace(candidate.source);
    fs::path object = buildFolder(kernel) / (productName(i) + ".o");
    if (isNew && shop.objects.find(objectKey(candidate, true), object))
      entry->second = object;
    if (!entry->second.empty())
      taken[i] = entry->second;
  }
  return taken;
}

void Tuner::measureProducts(Search &search) {
  const Kernel &kernel = search.kernel();
  std::map<size_t, fs::path> taken;
  if (kernel.product && options.best > 0)
    taken = takeProducts(kernel);
  if (taken.empty()) {
    tryNext(search);
    return;
  }
  std::vector<size_t> measured;
  std::set<std::string> objects, words;
  Words link;
  for (const auto &[index, object] : taken) {
    measured.push_back(index);
    objects.insert(object.string());
    for (const std::string &word : kernel.product->candidates[index].link)
      if (words.insert(word).second)
        link.push_back(word);
  }
  fs::path folder = buildFolder(kernel);
  Command command =
      linkCommand({objects.begin(), objects.end()}, link,
                  folder / "products.so", folder / "products.log");
  scheduleBuild(search, command, [=, &search](const Outcome &outcome) {
    checkEnvironment(command, outcome);
    if (outcome.succeeded()) {
      rankByProducts(search, measured);
      return;
    }
    dropProducts(search.kernel());
    progress(search.kernel(), "products",
             "cannot be linked: " + mainMessage(command.log));
    tryNext(search);
  });
}

void Tuner::dropProducts(const Kernel &kernel) const {
  fs::path folder = buildFolder(kernel);
  std::error_code ignored;
  fs::remove(folder / "products.so", ignored);
  for (size_t i = 0; i < kernel.product->candidates.size(); ++i)
    fs::remove(folder / (productName(i) + ".o"), ignored);
}

void Tuner::rankByProducts(Search &search,
                           const std::vector<size_t> &measured) {
  const Kernel &kernel = search.kernel();
  fs::path folder = buildFolder(kernel);
  Words jobs;
  for (size_t index : measured) {
    fs::path job = folder / (productName(index) + ".job");
    writeFile(job, jobOfProduct(kernel, index, folder / "products.so"));
    jobs.push_back(job.string());
  }
  measureTogether(kernel, "--rank", jobs, folder / "products.run.log",
                  [=, &search](const Outcome &outcome) {
                    dropProducts(search.kernel());
                    judgeProducts(search, measured, outcome);
                  });
}

void Tuner::judgeProducts(Search &search, const std::vector<size_t> &measured,
                          const Outcome &outcome) {
  const Kernel &kernel = search.kernel();
  WorkerReport report = readReport(outcome);
  std::vector<double> times;
  if (report.status == "ok" && report.values["us"].is_array())
    for (const nlohmann::json &us : report.values["us"])
      times.push_back(us.is_number() ? us.get<double>() : 0);
  if (times.size() != measured.size()) {
    progress(kernel, "products", report.status + ": " + report.detail);
    tryNext(search);
    return;
  }
  std::string hash = hashOfProduct(kernel);
  for (size_t i = 0; i < measured.size(); ++i) {
    Attempt attempt;
    attempt.kernel = kernel.name;
    attempt.status = "ok";
    attempt.us = times[i];
    database->record(keyOf(hash, kernel.product->candidates[measured[i]]),
                     attempt);
  }
  search.ranking = rankCandidates(kernel);
  progress(kernel, "ranked",
           std::to_string(measured.size()) + " products" +
               format(" in %.1f s, ", outcome.seconds) +
               format("the best took %.4g us",
                      *std::min_element(times.begin(), times.end())));
  tryNext(search);
}

} // namespace tuning
} // namespace fact
