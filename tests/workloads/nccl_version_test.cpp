// Which builds and libraries can measure NCCL.
#include "boundary/nccl_version.hpp"

#include <gtest/gtest.h>

namespace gpusync::tool {
namespace {

bool says(const std::string& sentence, const std::string& part) {
  return sentence.find(part) != std::string::npos;
}

TEST(NcclVersion, NumbersAreWrittenAsNcclDoes) {
  EXPECT_EQ(nccl_version_in_words(22809), "2.28.9");
  EXPECT_EQ(nccl_version_in_words(23012), "2.30.12");
}

TEST(NcclVersion, HeadersAndLibraryMustBeOfOneVersion) {
  EXPECT_EQ(why_no_nccl(22809, 22809), "");
  EXPECT_EQ(why_no_nccl(oldest_nccl, oldest_nccl), "");
  EXPECT_TRUE(says(why_no_nccl(22809, 22803), "compiled for NCCL 2.28.9, but runs with libnccl 2.28.3"));
  EXPECT_TRUE(says(why_no_nccl(22809, 23203), "libnccl 2.32.3"));
  EXPECT_TRUE(says(why_no_nccl(22809, 0), "2.28.9")) << "a library that does not say";
}

TEST(NcclVersion, WhatIsMissingIsSaid) {
  EXPECT_TRUE(says(why_no_nccl(0, 0), "This build has no NCCL"));
  EXPECT_TRUE(says(why_no_nccl(22707, 22707), "2.28.0 is the first"));
}

}  // namespace
}  // namespace gpusync::tool
