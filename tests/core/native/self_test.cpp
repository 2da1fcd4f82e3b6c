// Runs every case with every instruction set and several numbers of threads, and prints a digest of each result.
//
//     self_test [FILE]     with a file of digests, they must be equal to these
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include "self_test.hpp"
#include "simd/kernels.hpp"

namespace {

using self_test::Case;

std::string run(const Case& test) {
  std::string first;
  for (const std::string& set : cf::instruction_sets()) {
    cf::use_instruction_set(set);
    for (int threads : {1, 3}) {
      std::ostringstream digest;
      digest << std::hex << test.run(threads);
      if (first.empty()) first = digest.str();
      self_test::check(digest.str() == first, "differs with " + set + " and " + std::to_string(threads) + " threads");
    }
  }
  return first;
}

std::map<std::string, std::string> read_digests(const char* file) {
  std::ifstream in(file);
  std::map<std::string, std::string> digests;
  for (std::string name, digest; in >> name >> digest;) digests[name] = digest;
  self_test::check(!digests.empty(), std::string("no digests in ") + file);
  return digests;
}

}  // namespace

int main(int count, char** words) try {
  const std::map<std::string, std::string> expected =
      count > 1 ? read_digests(words[1]) : std::map<std::string, std::string>();
  int failed = 0;
  for (const auto& cases : {self_test::row_cases(), self_test::kmeans_cases(), self_test::consensus_cases()}) {
    for (const Case& test : cases) {
      try {
        const std::string digest = run(test);
        std::cout << test.name << ' ' << digest << std::endl;
        const auto wanted = expected.find(test.name);
        self_test::check(expected.empty() || (wanted != expected.end() && wanted->second == digest),
                         "not the recorded digest");
      } catch (const std::exception& error) {
        std::cerr << test.name << ": " << error.what() << std::endl;
        ++failed;
      }
    }
  }
  return failed ? 1 : 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << std::endl;
  return 2;
}
