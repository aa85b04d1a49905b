// What only the running kernel can find wrong, and the sentences that say so.
#pragma once

#if !defined(__CUDACC_RTC__)
#include <string>

#include <gpusync/core/error.hpp>
#endif
#include <gpusync/core/config.hpp>

namespace gpusync {

/// Why a kernel was ended by this library. On a GPU the launch fails (and the CUDA context with it), and the host finds
/// the reason in the storage: see misuse_in_words(). On host threads the launch throws.
enum class misuse : uint32_t {
  none,                ///< nothing was wrong
  outsider,            ///< a block called a barrier that does not join it; detail: members
  lost_phase,          ///< a wait without a deadline, on a barrier of which a phase was given up
  unfinished_arrival,  ///< arrive() or sync() before the wait for the arrival before
  spent_token,         ///< a token given to wait() twice, or after it was moved from
  lent,                ///< a barrier used beside a view that was made of it
  left,                ///< a call after arrive_and_drop()
  foreign_token,       ///< a token given to another barrier's wait()
  shared_handle,       ///< on host threads: the handle that was made for the launch, in the hands of its threads
  bad_view,            ///< warps that cannot form a view of their block; detail: threads
  concurrent_calls,    ///< two reductions at once on one storage
  out_of_turn,         ///< a halo's functions called in another order than put(), send(), receive(), get(), next()
  no_such_word,        ///< a slot or a word that a halo does not have; detail: its number
  overtaken,           ///< a halo's word was overwritten before it was got
  unknown_counter,     ///< a dependency counter that does not exist; detail: its number
  surplus_publish,     ///< more publishes in an epoch than the storage was told of; detail: the counter
  incomplete_epoch,    ///< a publish to a counter to which some of earlier launches are missing; detail: the counter
  wrong_end,           ///< an end of a channel made by a block that is not there; detail: the channel
  beyond_chunk,        ///< a word that a channel's chunks do not have; detail: its number
  too_many_warps,      ///< a block of more warps than can meet in groups; detail: their number
};

#if !defined(__CUDACC_RTC__)

/// The sentence for what block `block` has done.
inline std::string misuse_in_words(misuse reason, uint32_t block, uint32_t detail) {
  const std::string who = "Block " + std::to_string(block);
  switch (reason) {
    case misuse::none: return {};
    case misuse::outsider:
      return who + " called a barrier of " + std::to_string(detail) +
             " blocks that does not join it. Let only members call it, or make a larger storage.";
    case misuse::lost_phase:
      return who +
             " waited without a deadline at a barrier of which a phase had been given up: it would have waited for "
             "ever. Leave the kernel after a time-out, and call reset() on the storage before its next launch.";
    case misuse::unfinished_arrival:
      return who +
             " arrived again before it had waited for its last arrival: it would be counted for a block that is still "
             "missing. Give each arrival's token to wait() before the next one.";
    case misuse::spent_token:
      return who + " gave a token to wait() that had been waited for, or moved from. A token is good for one wait.";
    case misuse::foreign_token:
      return who +
             " gave wait() a token of another barrier. A token belongs to the barrier whose arrive() has given it.";
    case misuse::shared_handle:
      return who +
             " used a barrier that all threads share. Give storage.barrier() to launch() as an argument, and take it "
             "as a parameter of the kernel: then each thread has its own.";
    case misuse::lent:
      return who +
             " used a barrier beside a view of some of its warps, or made such a view after its first use. Make the "
             "view first, and use the view alone.";
    case misuse::left: return who + " called a barrier again that it had left with arrive_and_drop().";
    case misuse::bad_view:
      return who + " made a view of " + std::to_string(detail) +
             " threads: a view is of whole warps of the block, at least one, and of one only without a named barrier.";
    case misuse::concurrent_calls:
      return "Two reductions ran at once on one storage, and their sums were mixed: the result of neither can be used. "
             "Give each stream, and each graph that is replayed beside others, a storage of its own.";
    case misuse::out_of_turn:
      return who +
             " used a halo out of turn. In each step: put() its words, send() once, receive() once, get() the "
             "neighbours' words, next() once.";
    case misuse::no_such_word:
      return who + " asked a halo for slot or word " + std::to_string(detail) +
             ", which it does not have. Slots are numbered from 0 to slots() - 1, words from 0 to words() - 1.";
    case misuse::overtaken:
      return who +
             " came too late for a word of a neighbour, which had gone on and overwritten it. In each step of a halo a "
             "block must get() at least one word of each of its neighbours.";
    case misuse::unknown_counter:
      return who + " named dependency counter " + std::to_string(detail) +
             ", which its storage does not have. They are numbered from 0 to size() - 1.";
    case misuse::surplus_publish:
      return who + " published to dependency counter " + std::to_string(detail) +
             " when it had all that its storage was told of for an epoch. Make the storage for as many publishes as "
             "there are, let every block of a launch call the counters, if only enter(), and next_epoch() as often as "
             "the others.";
    case misuse::incomplete_epoch:
      return who + " published to dependency counter " + std::to_string(detail) +
             ", to which publishes of an earlier launch are missing. Make the storage for as many publishes as there "
             "are in an epoch, or call reset() after a launch that left some out.";
    case misuse::wrong_end:
      return who + " took an end of channel " + std::to_string(detail) +
             " that is another block's, or there is no such channel. The storage's list says which block sends and "
             "which receives.";
    case misuse::beyond_chunk:
      return who + " put or got word " + std::to_string(detail) +
             " of a channel's chunk, which has fewer. Words are counted from 0.";
    case misuse::too_many_warps:
      return who + " has " + std::to_string(detail) +
             " warps, of which at most 32 can meet in groups (pace::warps). On host threads each thread is a warp.";
  }
  return {};
}

namespace detail {

/// Throws what a launch on host threads ends with.
[[noreturn]] inline void throw_misuse(misuse reason, uint32_t block, uint32_t detail) {
  const std::string words = misuse_in_words(reason, block, detail);
  if (reason == misuse::lost_phase) throw broken_barrier(words);
  throw invalid_argument(words);
}

}  // namespace detail

#endif

}  // namespace gpusync
