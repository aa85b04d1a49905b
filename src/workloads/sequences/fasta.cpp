#include "workloads/sequences/fasta.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "text_file.hpp"
#include "usage_error.hpp"

namespace gpusync::tool {

namespace {

/// What a byte means within a sequence: a base, or one of these.
constexpr uint8_t blank = 254;
constexpr uint8_t foreign = 255;

constexpr std::array<uint8_t, 256> meanings = [] {
  std::array<uint8_t, 256> meaning{};
  meaning.fill(foreign);
  const auto set = [&meaning](std::string_view letters, uint8_t base) {
    for (const char c : letters) {
      meaning[static_cast<uint8_t>(c)] = base;
      meaning[static_cast<uint8_t>(c - 'A' + 'a')] = base;
    }
  };
  set("A", 0);
  set("C", 1);
  set("G", 2);
  set("TU", 3);
  set("NRYSWKMBDHV", unknown_base);
  meaning[' '] = meaning['\t'] = blank;
  return meaning;
}();

/// A byte as a message shows it: 'x', or '\x07' if it cannot be printed.
std::string shown(uint8_t byte) {
  return byte >= 0x20 && byte < 0x7f ? fmt::format("'{}'", static_cast<char>(byte)) : fmt::format("'\\x{:02x}'", byte);
}

bool is_control(uint8_t byte) {
  return (byte < 0x20 && byte != '\t') || byte == 0x7f;
}

/// Takes a FASTA text piece by piece.
class fasta_parser {
 public:
  fasta_parser(std::string path, uint64_t memory_limit) : path_(std::move(path)), memory_limit_(memory_limit) {}

  void take(const uint8_t* at, const uint8_t* end) {
    text_ += static_cast<uint64_t>(end - at);
    require_memory();
    while (at != end) {
      if (state_ == state::sequence) {
        at = take_letters(at, end);
      } else {
        take_byte(*at++);
      }
    }
  }

  std::vector<sequence> finish() {
    if (text_ == 0) throw usage_error(fmt::format("'{}' is empty. A FASTA file was expected.", path_));
    if (found_.empty()) {
      throw usage_error(
          fmt::format("'{}' has no sequence. In a FASTA file each begins with a line '>' and its name.", path_));
    }
    return std::move(found_);
  }

 private:
  enum class state : uint8_t { line_begin, name, description, comment, sequence };

  [[noreturn]] void fail(const std::string& what) const {
    throw usage_error(fmt::format("'{}', line {}, column {}: {}", path_, line_, column_, what));
  }

  void require_memory() const {
    const uint64_t records = found_.size() * sizeof(sequence);
    if (text_ > memory_limit_ || records > memory_limit_ - text_) {
      throw usage_error(
          fmt::format("'{}' has more text than the {} bytes that may be read into memory: they end in line {}.", path_,
                      memory_limit_, line_));
    }
  }

  /// A byte that is not within a line of letters.
  void take_byte(uint8_t byte) {
    ++column_;
    if (byte == '\n' || byte == '\r') return end_line(byte);
    after_return_ = false;
    switch (state_) {
      case state::line_begin: return begin_line(byte);
      case state::name:
        if (byte == ' ' || byte == '\t') {
          state_ = state::description;
        } else {
          require_text(byte, "a name");
          found_.back().name += static_cast<char>(byte);
        }
        return;
      case state::description: return require_text(byte, "a description");
      case state::comment: return require_text(byte, "a comment");
      case state::sequence: return;
    }
  }

  void require_text(uint8_t byte, std::string_view where) const {
    if (is_control(byte)) fail(fmt::format("{} is no character of {}. This is not a text file.", shown(byte), where));
  }

  void begin_line(uint8_t byte) {
    if (byte == '>') {
      state_ = state::name;
      found_.emplace_back();
      require_memory();
    } else if (byte == ';') {
      state_ = state::comment;
    } else if (meanings[byte] == blank) {
      return;  // it may still be a blank line
    } else if (found_.empty()) {
      refuse_first(byte);
    } else {
      state_ = state::sequence;
      take_letter(byte);
    }
  }

  [[noreturn]] void refuse_first(uint8_t byte) const {
    if (byte == '@') {
      fail("'@' begins a FASTQ file, and a FASTA file is expected. 'seqtk seq -A' makes one of the other.");
    }
    fail(fmt::format("{} is not how a FASTA file begins. Each of its sequences begins with a line '>' and its name.",
                     shown(byte)));
  }

  /// Letters up to the end of the line or of the piece, as many as there are in one go.
  const uint8_t* take_letters(const uint8_t* at, const uint8_t* end) {
    const uint8_t* const first = at;
    while (at != end && meanings[*at] <= unknown_base) ++at;
    auto& bases = found_.back().bases;
    const size_t before = bases.size();
    bases.resize(before + static_cast<size_t>(at - first));
    for (size_t i = before; i < bases.size(); ++i) bases[i] = meanings[first[i - before]];
    column_ += static_cast<uint64_t>(at - first);
    if (at == end) return at;
    ++column_;
    if (*at == '\n' || *at == '\r') {
      end_line(*at);
    } else {
      take_letter(*at);
    }
    return at + 1;
  }

  void take_letter(uint8_t byte) {
    const uint8_t meaning = meanings[byte];
    if (meaning == foreign) refuse_letter(byte);
    if (meaning != blank) found_.back().bases.push_back(meaning);
  }

  [[noreturn]] void refuse_letter(uint8_t byte) const {
    if (is_control(byte)) fail(fmt::format("{} is no nucleotide. This is not a text file.", shown(byte)));
    fail(fmt::format(
        "{} is no nucleotide{}. Sequences are of A C G T U, and of N R Y S W K M B D H V, which match nothing.",
        shown(byte), hint(byte)));
  }

  static std::string_view hint(uint8_t byte) {
    constexpr std::string_view of_proteins = "EFIJLOPQZefijlopqz*";
    if (of_proteins.find(static_cast<char>(byte)) != std::string_view::npos) return ", but a letter of proteins";
    if (byte == '-' || byte == '.') return ", but a gap of an alignment";
    if (byte == '>') return "; a name begins on a line of its own";
    return "";
  }

  void end_line(uint8_t byte) {
    const bool second_half = byte == '\n' && after_return_;
    after_return_ = byte == '\r';
    column_ = 0;
    if (second_half) return;
    ++line_;
    state_ = state::line_begin;
  }

  std::string path_;
  uint64_t memory_limit_;
  std::vector<sequence> found_;
  state state_ = state::line_begin;
  bool after_return_ = false;  ///< the byte before was CR, so that LF ends no second line
  uint64_t text_ = 0;
  uint64_t line_ = 1;
  uint64_t column_ = 0;  ///< of the byte at hand
};

}  // namespace

std::vector<sequence> read_fasta(const std::string& path, uint64_t memory_limit) {
  text_file file(path, path);
  if (file.size() > memory_limit) {
    throw usage_error(fmt::format("'{}' is {} bytes large, and only {} bytes may be read into memory.", path,
                                  file.size(), memory_limit));
  }
  fasta_parser parser(path, memory_limit);
  for (std::string_view piece; !(piece = file.next()).empty();) {
    const auto* const bytes = reinterpret_cast<const uint8_t*>(piece.data());
    parser.take(bytes, bytes + piece.size());
  }
  return parser.finish();
}

}  // namespace gpusync::tool
