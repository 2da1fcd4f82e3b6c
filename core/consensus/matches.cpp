#include "consensus/matches.hpp"
#include <algorithm>
#include <vector>
#include "runtime/threads.hpp"
#include "simd/kernels.hpp"

namespace cf {
namespace {

constexpr int64_t kRowsPerTask = 32;

// One byte counts up to 255 members, two count more.
template <class Count>
const CountKernels<Count>& kernel() {
  if constexpr (sizeof(Count) == 1)
    return kernels().counts8;
  else
    return kernels().counts16;
}

// ---- Written out ----

// Call use(i, start, counts, columns) with the matches of each row i of `a` and the rows of `b` from `start` on, panel
// by panel.
template <class Count, class Use>
void count_matches(const int32_t* a, int64_t rows_a, const int32_t* b, int64_t rows_b, int members, int threads,
                   const Use& use) {
  for (int64_t start = 0; start < rows_b; start += kPanel) {
    const int64_t end = std::min(rows_b, start + kPanel);
    const LabelBits panel(b, rows_b, members, start, end);
    parallel_for((rows_a + kRowsPerTask - 1) / kRowsPerTask, threads, [&](int64_t task, int) {
      std::vector<int32_t> chosen(members);
      std::vector<Count> counts(panel.columns);
      std::vector<uint64_t> high(panel.words);
      for (int64_t i = task * kRowsPerTask; i < std::min(rows_a, (task + 1) * kRowsPerTask); ++i) {
        panel.choose(a, rows_a, i, chosen);
        kernel<Count>().count_row(panel.bits.data(), panel.words, chosen.data(), members, panel.columns, 0,
                                  counts.data(), high.data());
        use(i, start, counts.data(), panel.columns);
      }
    });
  }
}

template <class Count>
void coassociate_by(const int32_t* a, int64_t rows_a, const int32_t* b, int64_t rows_b, int members,
                    const double* table, double* out, int threads) {
  count_matches<Count>(a, rows_a, b, rows_b, members, threads,
                       [&](int64_t i, int64_t start, const Count* counts, int64_t columns) {
                         kernel<Count>().look_up(counts, columns, table, out + i * rows_b + start);
                       });
}

template <class Count>
void most_matched_by(const int32_t* a, int64_t rows_a, const int32_t* b, int64_t rows_b, int members, int64_t* place,
                     int32_t* matches, int threads) {
  std::fill(matches, matches + rows_a, -1);
  count_matches<Count>(a, rows_a, b, rows_b, members, threads,
                       [&](int64_t i, int64_t start, const Count* counts, int64_t columns) {
                         Count most = 0;
                         for (int64_t j = 0; j < columns; ++j) most = std::max(most, counts[j]);
                         if (static_cast<int32_t>(most) <= matches[i]) return;
                         matches[i] = most;
                         place[i] = start + (std::find(counts, counts + columns, most) - counts);
                       });
}

// ---- As an operator ----

constexpr int kVectors = 8;  // multiplied at a time

int64_t pad(int64_t columns) { return (columns + kStride - 1) / kStride * kStride; }

int lowest_bit(uint64_t bits) {
#if defined(__GNUC__)
  return __builtin_ctzll(bits);
#else
  int i = 0;
  while (!(bits >> i & 1)) ++i;
  return i;
#endif
}

int bits_set(uint64_t bits) {
  bits -= bits >> 1 & 0x5555555555555555ull;
  bits = (bits & 0x3333333333333333ull) + (bits >> 2 & 0x3333333333333333ull);
  return static_cast<int>(((bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0full) * 0x0101010101010101ull >> 56);
}

// Write the columns of the set bits, and up to seven more numbers after them: eight at a time, because the end of a
// loop over each word's own number of bits would be mispredicted at every word.
uint16_t* list_columns(int64_t word, uint64_t bits, uint16_t* out) {
  constexpr uint64_t kLast = 1ull << 63;
  uint16_t* const end = out + bits_set(bits);
  for (; out < end; out += 8)
    for (int i = 0; i < 8; ++i, bits &= bits - 1)
      out[i] = static_cast<uint16_t>(LabelBits::column(word, lowest_bit(bits | kLast)));
  return end;
}

std::vector<int32_t> zero_where_labelled(const int32_t* labels, int64_t n) {
  std::vector<int32_t> out(n);
  for (int64_t i = 0; i < n; ++i) out[i] = labels[i] < 0 ? -1 : 0;
  return out;
}

// Counts the matches of rows with a panel, one row at a time.
template <class Count>
class Counter {
 public:
  explicit Counter(int members)
      : chosen_(members), counts_(kPanel), high_(kPanel / 64), at_(kPanel + 8), kept_(kPanel) {}

  RowMatches<Count> operator()(const LabelBits& panel, const int32_t* rows, int64_t n, int64_t row, int lowest) {
    // Count the matches with all columns of the panel, and note which are high enough.
    panel.choose(rows, n, row, chosen_);
    const int64_t width = pad(panel.columns), most = width / (sizeof(Count) + 2) * sizeof(Count);
    kernel<Count>().count_row(panel.bits.data(), panel.words, chosen_.data(), static_cast<int>(chosen_.size()), width,
                              lowest, counts_.data(), high_.data());
    // List these unless they take more room than all counts do.
    int64_t number = 0;
    for (int64_t w = 0; w < panel.words; ++w) number += bits_set(high_[w]);
    if (number > most) return {true, width, nullptr, counts_.data()};
    uint16_t* next = at_.data();
    for (int64_t w = 0; w < panel.words; ++w) next = list_columns(w, high_[w], next);
    for (int64_t e = 0; e < number; ++e) kept_[e] = counts_[at_[e]];
    return {false, number, at_.data(), kept_.data()};
  }

  // With `shares`: one number for the matches and the members in which both have a label.
  RowMatches<Count> operator()(const LabelBits& panel, const LabelBits& labelled, const int32_t* rows, int64_t n,
                               int64_t row) {
    const int members = static_cast<int>(chosen_.size());
    const int64_t width = pad(panel.columns);
    // Matches, and members in which both have a label, by the same kernel.
    std::vector<uint8_t> together(width), both(width);
    panel.choose(rows, n, row, chosen_);
    kernels().counts8.count_row(panel.bits.data(), panel.words, chosen_.data(), members, width, 0, together.data(),
                                high_.data());
    for (int m = 0; m < members; ++m) chosen_[m] = labelled.of(m, rows[m * n + row] < 0 ? -1 : 0);
    kernels().counts8.count_row(labelled.bits.data(), labelled.words, chosen_.data(), members, width, 0, both.data(),
                                high_.data());
    for (int64_t j = 0; j < width; ++j) counts_[j] = static_cast<Count>(both[j] * (members + 1) + together[j]);
    return {true, width, nullptr, counts_.data()};
  }

 private:
  std::vector<int32_t> chosen_;
  std::vector<Count> counts_;
  std::vector<uint64_t> high_;
  std::vector<uint16_t> at_;
  std::vector<Count> kept_;
};

// Reads matches back in the order in which they were stored.
template <class Count>
class Reader {
 public:
  explicit Reader(const StoredMatches<Count>& block)
      : size_(block.sizes.data()), at_(block.at.data()), counts_(block.counts.data()) {}

  RowMatches<Count> next() {
    const int64_t size = *size_++;
    const RowMatches<Count> matches = {size < 0, size < 0 ? -size : size, at_, counts_};
    if (!matches.all) at_ += matches.n;
    counts_ += matches.n;
    return matches;
  }

 private:
  const int64_t* size_;
  const uint16_t* at_;
  const Count* counts_;
};

// Up to eight vectors in the two layouts that the kernels need, panel by panel.
struct Vectors {
  int count, lanes;
  std::vector<double> apart;     // [v][column], padded with zeros
  std::vector<double> together;  // [column][lane]
  std::vector<double> sums;

  Vectors(const double* x, int64_t columns, int count)
      : count(count),
        lanes(count > 4   ? 8
              : count > 2 ? 4
                          : count),
        apart(pad(columns) * count),
        together(columns * lanes),
        sums(count) {
    for (int v = 0; v < count; ++v) {
      const double* from = x + v * columns;
      for (int64_t start = 0; start < columns; start += kPanel) {
        const int64_t width = std::min(columns - start, kPanel);
        std::copy_n(from + start, width, apart.begin() + start * count + v * pad(width));
      }
      for (int64_t j = 0; j < columns; ++j) {
        together[j * lanes + v] = from[j];
        sums[v] += from[j];
      }
    }
  }
};

template <class Work>
void over_rows(int64_t rows, int64_t columns, int threads, const Work& work) {
  if (rows * columns < 1 << 17) threads = 1;  // starting a thread costs more than the product
  parallel_for((rows + kRowsPerTask - 1) / kRowsPerTask, threads, [&](int64_t task, int thread) {
    work(task, thread, task * kRowsPerTask, std::min(rows, (task + 1) * kRowsPerTask));
  });
}

}  // namespace

void coassociate(const int32_t* a, int64_t rows_a, const int32_t* b, int64_t rows_b, int members, const double* table,
                 double* out, int threads) {
  if (members < 256)
    coassociate_by<uint8_t>(a, rows_a, b, rows_b, members, table, out, threads);
  else
    coassociate_by<uint16_t>(a, rows_a, b, rows_b, members, table, out, threads);
}

void most_matched(const int32_t* a, int64_t rows_a, const int32_t* b, int64_t rows_b, int members, int64_t* place,
                  int32_t* matches, int threads) {
  if (members < 256)
    most_matched_by<uint8_t>(a, rows_a, b, rows_b, members, place, matches, threads);
  else
    most_matched_by<uint16_t>(a, rows_a, b, rows_b, members, place, matches, threads);
}

void multiply(const double* matrix, int64_t rows, int64_t columns, const double* vectors, int count, double* out,
              int threads) {
  constexpr int64_t kBlock = 64;
  if (rows * columns < 1 << 17) threads = 1;  // starting a thread costs more than the product
  parallel_for((rows + kBlock - 1) / kBlock, threads, [&](int64_t task, int) {
    std::vector<double> products(count);
    for (int64_t i = task * kBlock; i < std::min(rows, (task + 1) * kBlock); ++i) {
      kernels().row_products(matrix + i * columns, columns, vectors, count, products.data());
      for (int v = 0; v < count; ++v) out[static_cast<int64_t>(v) * rows + i] = products[v];
    }
  });
}

MatchOperator::MatchOperator(const int32_t* labels, int64_t columns, int members, const double* table, bool shares)
    : columns(columns), members(members), shares(shares), table_(one_byte() ? 256 : 65536) {
  // A table of shares is used as it is; of others, what all pairs have is taken out.
  if (shares) {
    std::copy_n(table, (members + 1) * (members + 1), table_.begin());
    const std::vector<int32_t> zero = zero_where_labelled(labels, members * columns);
    for (int64_t start = 0; start < columns; start += kPanel)
      labelled_.emplace_back(zero.data(), columns, members, start, std::min(columns, start + kPanel));
  } else {
    common_ = table[0];
    for (int c = 0; c <= members; ++c) table_[c] = table[c] - common_;
    while (lowest_ <= members && table_[lowest_] == 0) ++lowest_;
  }
  for (int64_t start = 0; start < columns; start += kPanel)
    panels_.emplace_back(labels, columns, members, start, std::min(columns, start + kPanel));
}

template <class Count>
std::vector<StoredMatches<Count>> MatchOperator::count_matches(const int32_t* rows, int64_t n, int threads) const {
  std::vector<StoredMatches<Count>> blocks((n + kRowsPerTask - 1) / kRowsPerTask);
  std::vector<StoredMatches<Count>> scratch(threads);  // of each thread: grows to its largest block
  over_rows(n, columns, threads, [&](int64_t task, int thread, int64_t from, int64_t to) {
    StoredMatches<Count>& block = scratch[thread];
    block.clear();
    Counter<Count> count(members);
    for (size_t p = 0; p < panels_.size(); ++p) {
      for (int64_t i = from; i < to; ++i) {
        const RowMatches<Count> matches =
            shares ? count(panels_[p], labelled_[p], rows, n, i) : count(panels_[p], rows, n, i, lowest_);
        block.sizes.push_back(matches.all ? -matches.n : matches.n);
        if (!matches.all) block.at.insert(block.at.end(), matches.at, matches.at + matches.n);
        block.counts.insert(block.counts.end(), matches.counts, matches.counts + matches.n);
      }
    }
    blocks[task] = block;  // a copy, because it has no spare capacity
  });
  return blocks;
}

template <class Count>
void MatchOperator::multiply(const int32_t* rows, int64_t n, const double* x, int count, double* out, int threads,
                             const std::vector<StoredMatches<Count>>* stored) const {
  const Vectors vectors(x, columns, count);
  over_rows(n, columns, threads, [&](int64_t task, int, int64_t from, int64_t to) {
    Counter<Count> counter(members);
    const StoredMatches<Count> none;
    Reader<Count> reader(stored ? (*stored)[task] : none);
    // What every pair has in common first, then what pairs have beyond it, panel by panel.
    double products[kVectors];
    for (int v = 0; v < count; ++v) std::fill(out + v * n + from, out + v * n + to, common_ * vectors.sums[v]);
    for (size_t p = 0; p < panels_.size(); ++p) {
      const int64_t start = static_cast<int64_t>(p) * kPanel;
      for (int64_t i = from; i < to; ++i) {
        const RowMatches<Count> matches = stored   ? reader.next()
                                          : shares ? counter(panels_[p], labelled_[p], rows, n, i)
                                                   : counter(panels_[p], rows, n, i, lowest_);
        if (matches.all)
          kernel<Count>().products(matches.counts, matches.n, table_.data(), lowest_,
                                   vectors.apart.data() + start * count, count, products);
        else
          kernel<Count>().entry_products(matches.at, matches.counts, matches.n, table_.data(),
                                         vectors.together.data() + start * vectors.lanes, vectors.lanes, products);
        for (int v = 0; v < count; ++v) out[v * n + i] += products[v];
      }
    }
  });
}

void MatchOperator::multiply(const int32_t* rows, int64_t n, const double* vectors, int count, double* out,
                             int threads) const {
  for (int v = 0; v < count; v += kVectors) {
    const int some = std::min(kVectors, count - v);
    if (one_byte())
      multiply<uint8_t>(rows, n, vectors + v * columns, some, out + v * n, threads, nullptr);
    else
      multiply<uint16_t>(rows, n, vectors + v * columns, some, out + v * n, threads, nullptr);
  }
}

void MatchOperator::store(const int32_t* rows, int64_t n, int threads) {
  if (one_byte())
    stored8_ = count_matches<uint8_t>(rows, n, threads);
  else
    stored16_ = count_matches<uint16_t>(rows, n, threads);
  stored_rows = n;
}

void MatchOperator::multiply_stored(const double* vectors, int count, double* out, int threads) const {
  for (int v = 0; v < count; v += kVectors) {
    const int some = std::min(kVectors, count - v);
    if (one_byte())
      multiply<uint8_t>(nullptr, stored_rows, vectors + v * columns, some, out + v * stored_rows, threads, &stored8_);
    else
      multiply<uint16_t>(nullptr, stored_rows, vectors + v * columns, some, out + v * stored_rows, threads, &stored16_);
  }
}

int64_t MatchOperator::stored_bytes() const {
  int64_t bytes = 0;
  for (const auto& block : stored8_) bytes += 8 * block.sizes.size() + 2 * block.at.size() + block.counts.size();
  for (const auto& block : stored16_) bytes += 8 * block.sizes.size() + 2 * block.at.size() + 2 * block.counts.size();
  return bytes;
}

}  // namespace cf
