// Workload "maximal matches": for each suffix of each query the longest piece of the reference that it begins with, as
// in kernel Align of MUMmerGPU 2.0 (Lo et al. 2014, algorithm 4), by a suffix tree or by a suffix array. A query is a
// thread's. One text for CUDA, host threads and OpenCL: see boundary/step_text.h.
//
// Two places can have an artificial barrier, whose kind the text is compiled for: `edges`, the paper's placement 1,
// behind every edge (of the array: behind every row that is looked at), and `suffixes`, its placement 2, behind every
// suffix. No data depends on them. All threads of a block pass every one, those without a query too.
//
// Letters have four bits, eight of them a word: 0 to 3 are bases; what is none matches nothing, for in references it is
// another letter than in queries.

#ifdef __OPENCL_VERSION__
#define MATCH_TEMPLATE
#define MATCH_EDGES match_pace*
#define MATCH_SUFFIXES const match_pace*
#define MATCH_EMPTY 0
#define MATCH_FENCE 1
#define MATCH_BARRIER 2
#ifdef MATCH_BY_ARRAY
#define MATCH_INDEX match_array
#define MATCH_WALK match_array_walk
#else
#define MATCH_INDEX match_tree
#define MATCH_WALK match_tree_walk
#endif
/// The kinds of both places, as the text was compiled.
#define MATCH_IN_STEP(edges, suffixes) (MATCH_EDGES_KIND != MATCH_EMPTY || MATCH_SUFFIXES_KIND != MATCH_EMPTY)

/// Words of the work-group to vote in; one of the three is written, one read, one cleared.
typedef struct {
  volatile __local uint* votes;
  uint turn;
} match_pace;

static match_pace match_pace_with(volatile __local uint* votes) {
  match_pace pace;
  pace.votes = votes;
  pace.turn = 0;
#if MATCH_EDGES_KIND == MATCH_BARRIER
  if (get_local_id(0) < 3) votes[get_local_id(0)] = 0;
  if (get_local_size(0) < 3 && get_local_id(0) == 0) votes[1] = votes[2] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
#endif
  return pace;
}

static bool match_any(match_pace* pace, bool mine) {
#if MATCH_EDGES_KIND == MATCH_BARRIER
  const uint now = pace->turn, next = now == 2 ? 0 : now + 1;
  if (mine) pace->votes[now] = 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  const bool any = pace->votes[now] != 0;
  // All have read the vote before this one, and nobody votes there before the next barrier.
  if (get_local_id(0) == 0) pace->votes[now == 0 ? 2 : now - 1] = 0;
  pace->turn = next;
  return any;
#else
#if MATCH_EDGES_KIND == MATCH_FENCE
  mem_fence(CLK_LOCAL_MEM_FENCE);
#endif
  return mine;
#endif
}

static void match_visit(const match_pace* pace) {
#if MATCH_SUFFIXES_KIND == MATCH_BARRIER
  barrier(CLK_LOCAL_MEM_FENCE);
#elif MATCH_SUFFIXES_KIND == MATCH_FENCE
  mem_fence(CLK_LOCAL_MEM_FENCE);
#endif
}

static uint match_lowest_bit(uint bits) {
  return 31 - clz(bits & -bits);
}
#else
#define MATCH_TEMPLATE template <class Index, class Edges, class Suffixes>
#define MATCH_EDGES Edges
#define MATCH_SUFFIXES Suffixes
#define MATCH_INDEX Index
#define MATCH_WALK decltype(match_start(index, reads, 0))
#define MATCH_IN_STEP(edges, suffixes) (!Edges::is_empty || !Suffixes::is_empty)

GPUSYNC_API_TEMPLATE
template <class Place>
GPUSYNC_HD bool match_any(const Place& edges, bool mine) {
  return edges.any(mine);
}
GPUSYNC_API_TEMPLATE
template <class Place>
GPUSYNC_HD void match_visit(const Place& suffixes) {
  suffixes.visit();
}

GPUSYNC_HD inline uint32_t match_lowest_bit(uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return static_cast<uint32_t>(__ffs(static_cast<int>(bits))) - 1;
#else
  return static_cast<uint32_t>(__builtin_ctz(bits));
#endif
}
#endif

#define MATCH_NOT_IN_REFERENCE 4u
#define MATCH_NOT_IN_QUERY 8u
/// Of a child that is a leaf: the rest is where its suffix begins.
#define MATCH_LEAF 0x80000000u
#define MATCH_ROOT 0u
/// In the place of a child. No node has the root for a child.
#define MATCH_NO_CHILD 0u

/// A node of a suffix tree that is no leaf, 32 bytes: one sector of a GPU's memory.
typedef struct {
  uint32_t child[4];  ///< by letter
  uint32_t begin;     ///< where the node's letters stand in the reference
  uint32_t depth;     ///< how many they are
  uint32_t link;      ///< the node of the same letters without the first
  uint32_t row;       ///< of the suffix array: the first below it
} match_node;

/// Rows of a suffix array, the last one not included.
typedef struct {
  uint32_t first, end;
} match_rows;

/// A query: where its letters begin, where its records do, and how many of its suffixes are long enough to matter.
typedef struct {
  uint32_t letters, records, suffixes;
} match_query;

/// What was found for a suffix. By the tree, `place` is MATCH_LEAF and where the letters stand, if that is at one place
/// only, or else the first of their rows; by the array it is the row next to which the suffix would stand. Both 0 if
/// fewer than `least` letters match.
typedef struct {
  uint32_t place, length;
} match_record;

/// The queries of a run, and its result.
typedef struct {
  STEP_GLOBAL const uint32_t* letters;
  STEP_GLOBAL const match_query* all;
  STEP_GLOBAL const uint32_t* most;  ///< suffixes of a block's queries: the most that one of them has
  STEP_GLOBAL match_record* records;
  uint32_t count, least;
} match_reads;

STEP_FUNCTION uint32_t match_letter(STEP_GLOBAL const uint32_t* words, uint32_t at) {
  return (words[at / 8] >> (at % 8 * 4)) & 15u;
}

/// The eight letters from one on.
STEP_FUNCTION uint32_t match_eight(STEP_GLOBAL const uint32_t* words, uint32_t at) {
  STEP_GLOBAL const uint32_t* const word = words + at / 8;
  const uint32_t shift = at % 8 * 4;
  return word[0] >> shift | word[1] << 1 << (31 - shift);
}

/// How many letters two texts have in common from there on, no more than `most`.
STEP_FUNCTION uint32_t match_common(STEP_GLOBAL const uint32_t* one, uint32_t at_one, STEP_GLOBAL const uint32_t* other,
                                    uint32_t at_other, uint32_t most) {
  for (uint32_t count = 0; count < most; count += 8) {
    const uint32_t differ = match_eight(one, at_one + count) ^ match_eight(other, at_other + count);
    if (differ == 0) continue;
    count += match_lowest_bit(differ) / 4;
    return count < most ? count : most;
  }
  return most;
}

#ifndef MATCH_BY_ARRAY  // in OpenCL, which has no overloads, only one of both

/// A suffix tree and its reference.
typedef struct {
  STEP_GLOBAL const match_node* nodes;
  STEP_GLOBAL const uint32_t* text;
} match_tree;

/// On the way down the tree.
typedef struct {
  uint32_t node;    ///< where it stands
  uint32_t depth;   ///< the node's
  uint32_t known;   ///< letters of the suffix that the tree has, for it has those of the suffix before
  uint32_t place;   ///< the end of the edge at which it stands, or MATCH_ROOT
  uint32_t length;  ///< letters that match
} match_tree_walk;

/// Before the first suffix.
STEP_FUNCTION match_tree_walk match_start(match_tree tree, match_reads reads, uint32_t letters) {
  (void)tree, (void)reads, (void)letters;
  match_tree_walk walk;
  walk.node = walk.place = MATCH_ROOT;
  walk.depth = walk.known = walk.length = 0;
  return walk;
}

/// Sets out for the suffix that begins `at` there; whether there is somewhere to go.
STEP_FUNCTION bool match_set_out(match_tree tree, match_reads reads, uint32_t at, match_tree_walk* walk) {
  (void)tree, (void)reads, (void)at;
  walk->place = walk->node;
  walk->length = walk->depth;
  return true;
}

/// Goes down one edge; whether there may be another.
STEP_FUNCTION bool match_go_on(match_tree tree, match_reads reads, uint32_t at, match_tree_walk* walk) {
  const uint32_t letter = match_letter(reads.letters, at + walk->depth);
  const uint32_t child = letter < 4 ? tree.nodes[walk->node].child[letter] : MATCH_NO_CHILD;
  if (child == MATCH_NO_CHILD) return false;
  const bool is_leaf = (child & MATCH_LEAF) != 0;
  const uint32_t begin = is_leaf ? child & ~MATCH_LEAF : tree.nodes[child].begin;
  const uint32_t end = is_leaf ? 0xffffffffu : tree.nodes[child].depth;
  uint32_t length = walk->known > walk->depth ? walk->known : walk->depth + 1;
  if (length > end) length = end;
  length += match_common(tree.text, begin + length, reads.letters, at + length, end - length);
  walk->place = child;
  walk->length = length;
  if (length < end) return false;
  walk->node = child;
  walk->depth = end;
  return true;
}

/// What was found; then the walk is ready for the next suffix.
STEP_FUNCTION match_record match_finish(match_tree tree, match_reads reads, match_tree_walk* walk) {
  match_record found;
  found.place = found.length = 0;
  if (walk->length >= reads.least) {
    found.place = (walk->place & MATCH_LEAF) != 0 ? walk->place : tree.nodes[walk->place].row;
    found.length = walk->length;
  }
  walk->known = walk->length > 0 ? walk->length - 1 : 0;
  if (walk->node != MATCH_ROOT) {
    walk->node = tree.nodes[walk->node].link;
    walk->depth -= 1;
  }
  return found;
}

#endif
#if !defined(__OPENCL_VERSION__) || defined(MATCH_BY_ARRAY)

/// A suffix array, its reference, and for all words of `word` letters the rows that begin with them.
typedef struct {
  STEP_GLOBAL const uint32_t* position;
  STEP_GLOBAL const uint32_t* text;
  STEP_GLOBAL const match_rows* words;
  uint32_t word;
} match_array;

/// While a row is looked for.
typedef struct {
  match_rows rows;                     ///< that begin with the suffix's first word
  uint32_t left, right;                ///< rows before `left` come before the suffix, those from `right` on do not
  uint32_t left_common, right_common;  ///< letters that the rows there have in common with it
  uint32_t code, known;                ///< the first word less its last letter, and how many of its letters are known
} match_array_walk;

/// Before the first suffix of a query.
STEP_FUNCTION match_array_walk match_start(match_array array, match_reads reads, uint32_t letters) {
  match_array_walk walk;
  walk.rows.first = walk.rows.end = walk.left = walk.right = walk.left_common = walk.right_common = 0;
  walk.code = walk.known = 0;
  for (uint32_t i = 0; i + 1 < array.word; ++i) {
    const uint32_t letter = match_letter(reads.letters, letters + i);
    walk.code = walk.code << 2 | (letter & 3);
    walk.known = letter < 4 ? walk.known + 1 : 0;
  }
  return walk;
}

STEP_FUNCTION bool match_set_out(match_array array, match_reads reads, uint32_t at, match_array_walk* walk) {
  const uint32_t letter = match_letter(reads.letters, at + array.word - 1);
  walk->code = (walk->code << 2 | (letter & 3)) & ((1u << 2 * array.word) - 1);
  walk->known = letter < 4 ? walk->known + 1 : 0;
  walk->rows.first = walk->rows.end = 0;
  if (walk->known >= array.word) walk->rows = array.words[walk->code];
  walk->left = walk->rows.first;
  walk->right = walk->rows.end;
  walk->left_common = walk->right_common = array.word;
  return walk->left < walk->right;
}

/// Looks at one row; whether there is another to look at.
STEP_FUNCTION bool match_go_on(match_array array, match_reads reads, uint32_t at, match_array_walk* walk) {
  const uint32_t middle = walk->left + (walk->right - walk->left) / 2;
  const uint32_t begin = array.position[middle];
  uint32_t common = walk->left_common < walk->right_common ? walk->left_common : walk->right_common;
  common += match_common(array.text, begin + common, reads.letters, at + common, 0xffffffffu);
  const uint32_t here = match_letter(array.text, begin + common);
  const uint32_t wanted = match_letter(reads.letters, at + common);
  // A suffix that ends, or goes on with what matches nothing, comes before all that begin with it.
  if (wanted < 4 && (here == MATCH_NOT_IN_REFERENCE || here < wanted)) {
    walk->left = middle + 1;
    walk->left_common = common;
  } else {
    walk->right = middle;
    walk->right_common = common;
  }
  return walk->left < walk->right;
}

STEP_FUNCTION match_record match_finish(match_array array, match_reads reads, match_array_walk* walk) {
  (void)array;
  match_record found;
  found.place = found.length = 0;
  if (walk->rows.first == walk->rows.end) return found;
  const bool has_left = walk->left > walk->rows.first, has_right = walk->right < walk->rows.end;
  const bool takes_right = has_right && (!has_left || walk->right_common >= walk->left_common);
  const uint32_t length = takes_right ? walk->right_common : walk->left_common;
  if (length < reads.least) return found;
  found.place = takes_right ? walk->right : walk->left - 1;
  found.length = length;
  return found;
}

#endif

/// The calling thread's queries.
MATCH_TEMPLATE
STEP_FUNCTION void match_all(MATCH_INDEX index, match_reads reads, MATCH_EDGES edges, MATCH_SUFFIXES suffixes,
                             step_place here) {
  const uint32_t stride = here.blocks * here.threads;
  for (uint32_t first = here.block * here.threads; first < reads.count; first += stride) {
    const uint32_t number = first + here.thread;
    match_query query;
    query.letters = query.records = query.suffixes = 0;
    if (number < reads.count) query = reads.all[number];
    const uint32_t turns = MATCH_IN_STEP(edges, suffixes) ? reads.most[first / here.threads] : query.suffixes;
    MATCH_WALK walk = match_start(index, reads, query.letters);
    for (uint32_t turn = 0; turn < turns; ++turn) {
      const bool mine = turn < query.suffixes;
      const uint32_t at = query.letters + turn;
      bool walking = mine && match_set_out(index, reads, at, &walk);
      bool any = match_any(edges, walking);
      while (any) {
        if (walking) walking = match_go_on(index, reads, at, &walk);
        any = match_any(edges, walking);
      }
      if (mine) reads.records[query.records + turn] = match_finish(index, reads, &walk);
      match_visit(suffixes);
    }
  }
}

#ifdef __OPENCL_VERSION__  // what boundary/steps.cl asks for
#ifdef MATCH_BY_ARRAY
#define MATCH_INDEX_PARAMETERS \
  __global const uint *position, __global const uint *text, __global const match_rows *words
#define MATCH_INDEX_ARGUMENTS position, text, words
#else
#define MATCH_INDEX_PARAMETERS __global const match_node *nodes, __global const uint *text
#define MATCH_INDEX_ARGUMENTS nodes, text
#endif
#define STEP_PARAMETERS                                                                          \
  __global match_record *records, __global const match_query *all, __global const uint *letters, \
      MATCH_INDEX_PARAMETERS, __global const uint *most, uint count, uint least, uint word, __local uint *votes
#define STEP_ARGUMENTS records, all, letters, MATCH_INDEX_ARGUMENTS, most, count, least, word, votes
#define STEP_KEEPS_NOTHING
typedef uint step_kept;
static void step_once(uint number, step_kept* kept, STEP_PARAMETERS) {
  MATCH_INDEX index;
#ifdef MATCH_BY_ARRAY
  index.position = position;
  index.words = words;
  index.word = word;
#else
  index.nodes = nodes;
#endif
  index.text = text;
  match_reads reads;
  reads.letters = letters;
  reads.all = all;
  reads.most = most;
  reads.records = records;
  reads.count = count;
  reads.least = least;
  match_pace pace = match_pace_with(votes);
  match_all(index, reads, &pace, &pace, step_here());
}
#else  // and boundary/computation.hpp; Index: match_tree or match_array
template <class Index, pace_kind Edges, pace_kind Suffixes>
struct match_text : computation {
  Index index;
  match_reads reads;

  GPUSYNC_API_TEMPLATE
  template <class Grid>
  GPUSYNC_HD void step(Grid grid, uint32_t, kept&) const {
    match_all(index, reads, pace_place<Edges, Grid>{grid}, pace_place<Suffixes, Grid>{grid}, step_here(grid));
  }
};
#endif
