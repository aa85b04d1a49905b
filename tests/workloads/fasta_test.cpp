// FASTA files: every form that is allowed is read, and everything else ends in one sentence that names the place.
#include "workloads/sequences/fasta.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "usage_error.hpp"

namespace gpusync::tool {
namespace {

constexpr uint64_t plenty = 1 << 30;

/// A file for as long as the object lives.
class temporary_file {
 public:
  explicit temporary_file(const std::string& contents) {
    const int file = mkstemp(path_.data());
    if (file < 0) throw std::runtime_error("no temporary file");
    close(file);
    write(contents);
  }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  ~temporary_file() { unlink(path_.c_str()); }

  void write(const std::string& contents) const {
    std::ofstream stream(path_, std::ios::binary | std::ios::trunc);
    stream << contents;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_ = testing::TempDir() + "fasta_XXXXXX";
};

std::string compressed(const std::string& text) {
  const temporary_file file("");
  gzFile stream = gzopen(file.path().c_str(), "wb");
  gzwrite(stream, text.data(), static_cast<unsigned>(text.size()));
  gzclose(stream);
  std::ostringstream contents;
  contents << std::ifstream(file.path(), std::ios::binary).rdbuf();
  return contents.str();
}

std::string letters(const std::vector<uint8_t>& bases) {
  std::string text;
  for (const uint8_t base : bases) text += "ACGTN?"[std::min<uint8_t>(base, 5)];
  return text;
}

/// The records as "name:LETTERS name:LETTERS".
std::string in_short(const std::vector<sequence>& records) {
  std::string text;
  for (const sequence& record : records) {
    if (!text.empty()) text += ' ';
    text += record.name + ":" + letters(record.bases);
  }
  return text;
}

std::string read(const std::string& contents) {
  const temporary_file plain(contents), gzip(compressed(contents));
  std::string text = in_short(read_fasta(plain.path(), plenty));
  EXPECT_EQ(in_short(read_fasta(gzip.path(), plenty)), text);
  return text;
}

/// What read_fasta says of a file; its name in quotes as FILE.
std::string complaint_of(const std::string& path, uint64_t limit = plenty) {
  try {
    (void)read_fasta(path, limit);
    return "";
  } catch (const usage_error& wrong) {
    std::string text = wrong.what();
    const std::string name = "'" + path + "'";
    return text.compare(0, name.size(), name) == 0 ? text.replace(0, name.size(), "FILE") : text;
  }
}

std::string complaint(const std::string& contents, uint64_t limit = plenty) {
  return complaint_of(temporary_file(contents).path(), limit);
}

void expect_complaint(const std::string& contents, const std::string& begin, const std::string& word = "") {
  for (const std::string& stored : {contents, compressed(contents)}) {
    const std::string text = complaint(stored);
    EXPECT_EQ(text.substr(0, begin.size()), begin);
    EXPECT_NE(text.find(word), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }
}

TEST(Fasta, ReadsRecordsOfAnyForm) {
  EXPECT_EQ(read(">a\nACGT\n"), "a:ACGT");
  EXPECT_EQ(read(">a\nACGT"), "a:ACGT") << "no end of line at the end";
  EXPECT_EQ(read(">a\nAC\nGT\n>b\nTT\n"), "a:ACGT b:TT");
  EXPECT_EQ(read(">a\r\nAC\r\nGT\r\n>b\r\nTT\r\n"), "a:ACGT b:TT") << "CRLF";
  EXPECT_EQ(read(">a\rAC\rGT\r>b\rTT"), "a:ACGT b:TT") << "CR";
  EXPECT_EQ(read(">a\rAC\n>b\n\rT\n\n>c\r\r\nG"), "a:AC b:T c:G") << "all of them";
  EXPECT_EQ(read("\n \n>a\n\nAC\n\n\n  GT\t\n\n>b\n\n"), "a:ACGT b:") << "blank lines, blanks in lines";
  EXPECT_EQ(read(";first\n>a\n;ACGT\nAC\n; gt > \nGT\n;"), "a:ACGT") << "comments";
  EXPECT_EQ(read(">a b c\nAC\n>d\te\nGT\n"), "a:AC d:GT") << "a name ends at the first blank";
  EXPECT_EQ(read(">\nAC\n> x\nGT\n>"), ":AC :GT :") << "a record without a name";
  EXPECT_EQ(read(">a"), "a:");
  EXPECT_EQ(read(">a\n>b\n>c\nA\n"), "a: b: c:A") << "records without letters";
  EXPECT_EQ(read(">\xc3\xa9>;@\nA\n"), "\xc3\xa9>;@:A") << "names are of any characters";
}

TEST(Fasta, ReadsEveryNucleotideLetterInEitherCase) {
  EXPECT_EQ(read(">a\nACGTUacgtu\n"), "a:ACGTTACGTT");
  EXPECT_EQ(read(">a\nNRYSWKMBDHVnryswkmbdhv\n"), "a:" + std::string(22, 'N'));
}

TEST(Fasta, ReadsLinesAcrossThePiecesInWhichItReads) {
  std::string text = ">a\n", expected = "a:";
  for (size_t i = 0; i < 400000; ++i) {
    text += "ACGT"[i * i % 11 % 4];
    expected += text.back();
  }
  EXPECT_EQ(read(text), expected) << "one line";
  for (const std::string first : {">", ">a"}) {  // so that CR and LF fall into two pieces in one of the two
    std::string lines = first + "\r\n", joined = first.substr(1) + ":";
    for (size_t i = 0; i < 100000; ++i) {
      lines += i % 3 == 0 ? "A\r\n" : i % 3 == 1 ? "\r\n" : "c\r\n";
      joined += i % 3 == 0 ? "A" : i % 3 == 1 ? "" : "C";
    }
    EXPECT_EQ(read(lines), joined);
    lines += "!";
    EXPECT_EQ(complaint(lines).substr(0, 32), "FILE, line 100002, column 1: '!'");
  }
}

TEST(Fasta, ReadsAPipe) {
  const temporary_file file("");
  unlink(file.path().c_str());
  ASSERT_EQ(mkfifo(file.path().c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(file.path()) << ">a\nACGT\n"; });
  EXPECT_EQ(in_short(read_fasta(file.path(), plenty)), "a:ACGT");
  writer.join();
}

TEST(Fasta, SaysWhyAFileCannotBeRead) {
  EXPECT_EQ(complaint_of("/nonexistent/q.fa"), "FILE cannot be read: No such file or directory.");
  EXPECT_EQ(complaint_of(testing::TempDir()), "FILE cannot be read: it is a folder.");
  EXPECT_EQ(complaint_of(""), "FILE cannot be read: No such file or directory.");
  if (geteuid() == 0) return;  // who may read everything
  const temporary_file file(">a\n");
  chmod(file.path().c_str(), 0);
  EXPECT_EQ(complaint_of(file.path()), "FILE cannot be read: Permission denied.");
}

TEST(Fasta, RefusesWhatIsNoFasta) {
  expect_complaint("", "FILE is empty.");
  expect_complaint("\n\r\n \t\n; nothing\n", "FILE has no sequence.", "'>'");
  expect_complaint("ACGT\n", "FILE, line 1, column 1: 'A' is not how a FASTA file begins.", "'>'");
  expect_complaint("; x\n\n  LOCUS", "FILE, line 3, column 3: 'L'", "'>'");
  expect_complaint("\n@read/1\nACGT\n+\nIIII\n", "FILE, line 2, column 1: '@' begins a FASTQ file", "seqtk");
  expect_complaint(std::string("\0\0", 2), "FILE, line 1, column 1: '\\x00'");
  expect_complaint("\xff\xfe>\n", "FILE, line 1, column 1: '\\xff'");
}

TEST(Fasta, RefusesLettersThatAreNoNucleotides) {
  const std::string head = ">a x\nACGT\nAC";
  for (const char letter : std::string("EFIJLOPQZefijlopqz*")) {
    expect_complaint(head + letter + "GT\n",
                     "FILE, line 3, column 3: '" + std::string(1, letter) + "' is no nucleotide", "protein");
  }
  for (const char letter : std::string("0123456789!?xX_@+;")) {
    expect_complaint(head + letter, "FILE, line 3, column 3: '" + std::string(1, letter) + "' is no nucleotide",
                     "A C G T U");
  }
  expect_complaint(head + "-", "FILE, line 3, column 3: '-'", "gap");
  expect_complaint(head + ">b\n", "FILE, line 3, column 3: '>'", "line of its own");
  expect_complaint(">a\n\n  \tE", "FILE, line 3, column 4: 'E'");
  expect_complaint(">a\rAC\rE", "FILE, line 3, column 1: 'E'");
}

TEST(Fasta, RefusesBinaryDataShowingTheByte) {
  expect_complaint(std::string(">a\nAC\0GT", 8), "FILE, line 2, column 3: '\\x00'", "not a text file");
  expect_complaint(">a\nAC\x1bGT", "FILE, line 2, column 3: '\\x1b'", "not a text file");
  expect_complaint(">a\nAC\xe9", "FILE, line 2, column 3: '\\xe9'");
  expect_complaint(std::string(">a\0", 3), "FILE, line 1, column 3: '\\x00'", "name");
  expect_complaint(">a\x7f", "FILE, line 1, column 3: '\\x7f'", "name");
  expect_complaint(">a b\x01", "FILE, line 1, column 5: '\\x01'", "description");
  expect_complaint(">a\n;\x02", "FILE, line 2, column 2: '\\x02'", "comment");
}

TEST(Fasta, RefusesGzipCutOffAtAnyByte) {
  std::string text = ">a\n";
  for (size_t i = 0; i < 500; ++i) text += "ACGT"[i * i % 7 % 4];
  const std::string whole = compressed(text);
  ASSERT_EQ(complaint(whole), "");
  EXPECT_EQ(complaint(whole.substr(0, 1)).substr(0, 37), "FILE, line 1, column 1: '\\x1f' is not");
  for (size_t length = 2; length < whole.size(); ++length) {
    EXPECT_EQ(complaint(whole.substr(0, length)), "FILE cannot be read: its gzip data is cut off.") << length;
  }
}

TEST(Fasta, RefusesDamagedGzip) {
  const std::string text = ">a\n" + std::string(3000, 'A') + "\nCGTTGCA\n";
  std::string damaged = compressed(text);
  damaged[damaged.size() - 8] ^= 1;  // its checksum
  EXPECT_EQ(complaint(damaged).find("FILE cannot be read: its gzip data is damaged"), 0u) << complaint(damaged);
}

TEST(Fasta, RefusesMoreTextThanTheLimit) {
  const std::string text = ">a\n" + std::string(997, 'A');
  EXPECT_EQ(complaint(text, 1000 + sizeof(sequence)), "");
  EXPECT_EQ(complaint(text, 999), "FILE is 1000 bytes large, and only 999 bytes may be read into memory.");
  const std::string gzip = compressed(text);
  EXPECT_EQ(complaint(gzip, 1000 + sizeof(sequence)), "");
  EXPECT_EQ(complaint(gzip, 999),
            "FILE has more text than the 999 bytes that may be read into memory: they end in line 1.");
  // A record without a name or a letter takes memory too.
  std::string records;
  for (int i = 0; i < 100; ++i) records += ">\n";
  EXPECT_NE(complaint(records, 200), "");
  EXPECT_EQ(complaint(records, 200 + 100 * sizeof(sequence)), "");
}

TEST(Fasta, IsSentAwayByALargeFileBeforeReadingIt) {
  const temporary_file file("E");
  ASSERT_EQ(truncate(file.path().c_str(), 1 << 30), 0);  // a hole, whose first bytes would be refused otherwise
  EXPECT_EQ(complaint_of(file.path(), 1000),
            "FILE is 1073741824 bytes large, and only 1000 bytes may be read into memory.");
}

RC_GTEST_PROP(Fasta, GivesBackWhatWasWrittenInAnyLayout, ())
{
  std::string text, expected;
  const auto records = *rc::gen::inRange(1, 5);
  const auto line_end = *rc::gen::element<std::string>("\n", "\r\n", "\r");
  for (int i = 0; i < records; ++i) {
    const auto name = *rc::gen::container<std::string>(rc::gen::inRange('!', '~'));
    const auto sequence = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("ACGTN")));
    const auto width = *rc::gen::inRange<size_t>(1, 30);
    const bool lower = *rc::gen::arbitrary<bool>();
    text += fmt::format(">{}{}{}", name, *rc::gen::arbitrary<bool>() ? " more" : "", line_end);
    for (size_t at = 0; at < sequence.size(); at += width) {
      for (const char letter : sequence.substr(at, width)) text += static_cast<char>(lower ? letter + 32 : letter);
      text += line_end;
    }
    expected += fmt::format("{}{}:{}", i > 0 ? " " : "", name, sequence);
  }
  if (*rc::gen::arbitrary<bool>()) text = compressed(text);
  RC_ASSERT(in_short(read_fasta(temporary_file(text).path(), plenty)) == expected);
}

RC_GTEST_PROP(Fasta, AnyBytesAreReadOrRefusedInOneSentence, (const std::string& noise))
{
  for (const std::string& text : {noise, ">a\n" + noise, compressed(">a\nACGT\n").substr(0, 12) + noise}) {
    const std::string words = complaint(text);
    RC_ASSERT(words.empty() || words.substr(0, 4) == "FILE");
    RC_ASSERT(words.find('\n') == std::string::npos);
  }
}

}  // namespace
}  // namespace gpusync::tool
