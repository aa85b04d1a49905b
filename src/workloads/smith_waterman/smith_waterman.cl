// Workload "Smith-Waterman" in OpenCL C: says the same as wavefront.hpp, which explains it. Goes between the text of
// the barrier and steps.cl.

#define NO_SCORE (-(1 << 30))

// down: two halves of `rows`, used in turn: H(i,j) and F(i+1,j). on: E(i,j+1) and H(i-1,j). best: score and column.
#define STEP_PARAMETERS                                                                                 \
  __global const uchar *query, __global const uchar *reference, __global int2 *down, __global int2 *on, \
      __global int2 *best, uint rows, uint columns, int match, int mismatch, int open_and_extend, int extend
#define STEP_ARGUMENTS query, reference, down, on, best, rows, columns, match, mismatch, open_and_extend, extend

#define STEP_KEEPS_NOTHING
typedef uint step_kept;

static void step_once(uint diagonal, step_kept* kept, STEP_PARAMETERS) {
  const uint first = diagonal < columns ? 0 : diagonal - columns + 1;
  const uint end = diagonal < rows ? diagonal + 1 : rows;
  __global const int2* const before = down + ((diagonal + 1) % 2) * (size_t)rows;
  __global int2* const now = down + (diagonal % 2) * (size_t)rows;
  for (uint row = first + (uint)get_global_id(0); row < end; row += (uint)get_global_size(0)) {
    const uint column = diagonal - row;
    const int2 across = column == 0 ? (int2)(NO_SCORE, 0) : on[row];
    const int2 above = row == 0 ? (int2)(0, NO_SCORE) : before[row - 1];
    const int pair = across.y + (query[row] == reference[column] ? match : mismatch);
    const int score = max(max(pair, 0), max(across.x, above.y));
    const int opened = score - open_and_extend;
    on[row] = (int2)(max(opened, across.x - extend), above.x);
    now[row] = (int2)(score, max(opened, above.y - extend));
    if (score > best[row].x) best[row] = (int2)(score, (int)column);
  }
}
