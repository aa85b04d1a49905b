// The search: which steps are possible, and the way back.
#include "explorer/explorer.hpp"

#include <chrono>
#include <cstring>
#include <stdexcept>

namespace gpusync::verify {

explorer* explorer::active_ = nullptr;

const char* to_string(failure kind) {
  switch (kind) {
    case failure::none: return "none";
    case failure::deadlock: return "deadlock";
    case failure::early_release: return "early release";
    case failure::data_race: return "data race";
    case failure::runaway: return "runaway";
    case failure::not_linearizable: return "not linearizable";
    case failure::not_wait_free: return "not wait-free";
    case failure::disagreement: return "disagreement";
    case failure::wrong_answer: return "wrong answer";
    case failure::wrongly_removed: return "wrongly removed";
  }
  return "?";
}

explorer::explorer(const shape& form, std::function<void()> body) : form_(form), body_(std::move(body)) {
  if (fibers() > max_fibers) throw std::invalid_argument("The explorer is built for fewer threads.");
  if (form.gpus == 0 || form.gpus > max_gpus || form.blocks % form.gpus != 0) {
    throw std::invalid_argument("The explorer's GPUs are few and have as many blocks each.");
  }
}

explorer::~explorer() {
  active_ = nullptr;
}

bool explorer::all_done() const {
  for (uint32_t i = 0; i < fibers(); ++i) {
    if (state_.fibers[i].status != fiber_status::done) return false;
  }
  return true;
}

bool explorer::enabled(uint32_t index) const {
  const fiber_state& at = state_.fibers[index];
  if (at.status != fiber_status::at_operation) return false;
  return !at.round.in_vain || at.round.writes != state_.writes;
}

/// Moves `at.next` to a choice that is possible, itself included; false if there is none left.
bool explorer::next_choice(node& at) const {
  for (; at.next.fiber < fibers(); at.next = {at.next.fiber + 1, unread}) {
    if (!enabled(at.next.fiber)) continue;
    const fiber_state& own = state_.fibers[at.next.fiber];
    const uint32_t word = own.pending.word;
    if (at.next.message == unread) {
      at.next.message = state_.latest[word];
      return true;
    }
    if (at.next.message == gives_up) continue;
    // The latest has been tried; older ones are for loads.
    if (own.pending.what == action::load && form_.stale && at.next.message != no_message) {
      const uint32_t older = state_.messages[at.next.message].previous;
      if (stamp_of(older) >= own.now.seen[word]) {
        at.next.message = older;
        return true;
      }
    }
    if (!own.pending.may_give_up) continue;
    at.next.message = gives_up;
    return true;
  }
  return false;
}

void explorer::save(node& to) {
  to.state.resize(sizeof(model_state) - sizeof(state_.messages));
  std::byte* end = to.state.data();
  state_.for_each_part(fibers(), form_.blocks, [&](const void* part, size_t bytes) {
    std::memcpy(end, part, bytes);
    end += bytes;
  });
  to.fibers.resize(fibers());
  for (uint32_t i = 0; i < fibers(); ++i) stacks_[i]->save(to.fibers[i]);
}

/// From any state that comes later on the path, if all that has run since then is among `resumed`.
void explorer::restore(const node& from, uint32_t resumed) {
  const std::byte* begin = from.state.data();
  state_.for_each_part(fibers(), form_.blocks, [&](void* part, size_t bytes) {
    std::memcpy(part, begin, bytes);
    begin += bytes;
  });
  for (uint32_t i = 0; i < fibers(); ++i) {
    if ((resumed >> i & 1) != 0) stacks_[i]->restore(from.fibers[i]);
  }
}

void explorer::resume(uint32_t index) {
  current_ = index;
  resumed_ |= 1u << index;
  stacks_[index]->resume();
}

explorer::node& explorer::push(size_t depth) {
  if (path_.size() <= depth) path_.push_back(std::make_unique<node>());
  node& top = *path_[depth];
  save(top);
  top.next = {0, unread};
  top.progress = false;
  return top;
}

/// To the first state: every thread before its first operation.
void explorer::start() {
  active_ = this;
  state_ = model_state{};
  std::fill(std::begin(state_.latest), std::end(state_.latest), no_message);
  stacks_.clear();
  for (uint32_t i = 0; i < fibers(); ++i) {
    state_.fibers[i].blocks = static_cast<uint8_t>(form_.blocks);
    stacks_.push_back(std::make_unique<fiber>([this] {
      body_();
      self().status = fiber_status::done;
    }));
  }
  run_locally();
  (void)visited_.insert(state_hash());
}

/// Does one step, and says whether it was one: a poll that fails is not.
bool explorer::step(const choice& taken) {
  current_ = taken.fiber;
  resumed_ = 0;
  apply(taken);
  state_.fibers[taken.fiber].status = fiber_status::runnable;
  resume(taken.fiber);
  if (state_.fibers[taken.fiber].status == fiber_status::paused) return false;
  run_locally();
  return true;
}

void explorer::run_locally() {
  for (uint32_t i = 0; i < fibers();) {
    if (state_.fibers[i].status == fiber_status::runnable) {
      resume(i);
      i = 0;
    } else {
      ++i;
    }
  }
}

exploration explorer::run() {
  const auto begin = std::chrono::steady_clock::now();
  exploration result;
  visited_.clear();
  failed_ = failure::none;
  most_call_steps_ = 0;
  trace_.clear();
  start();
  search(result);
  result.states = visited_.size();
  result.most_call_steps = most_call_steps_;
  result.found = failed_;
  result.trace = trace_;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

void explorer::search(exploration& result) {
  constexpr size_t most_steps = 1000;
  size_t depth = 0;
  push(0);
  for (;;) {
    node& top = *path_[depth];
    if (!next_choice(top)) {
      if (!top.progress && !form_.may_hang && !all_done()) {
        fail(failure::deadlock, "no thread can go on");
        return retrace(depth);
      }
      if (depth == 0) break;
      --depth;
      restore(*path_[depth], path_[depth]->resumed);  // the state behind its step is where the search was
      continue;
    }
    top.taken = top.next;
    const fiber_state& own = state_.fibers[top.taken.fiber];
    const bool fresh = top.taken.message == state_.latest[own.pending.word] || top.taken.message == gives_up;
    const bool stepped = step(top.taken);
    top.resumed = resumed_;
    if (!stepped) {
      restore(top, top.resumed);
      continue;
    }
    ++result.steps;
    top.progress = top.progress || fresh;
    if (failed_ != failure::none) return retrace(depth + 1);
    if (all_done()) ++result.executions;
    if (depth + 1 == most_steps) {
      fail(failure::runaway, "too many steps");
      return retrace(depth + 1);
    }
    if (!visited_.insert(state_hash())) {
      restore(top, top.resumed);
      continue;
    }
    if (visited_.size() >= form_.most_states) return;
    push(++depth);
  }
  result.exhaustive = true;
}

/// Runs the first `steps` steps of the path again, and this time writes them down.
void explorer::retrace(size_t steps) {
  const failure kind = failed_;
  const std::string why = trace_;
  trace_.clear();
  restore(*path_[0], ~0u);
  tracing_ = true;
  failed_ = failure::none;
  for (size_t i = 0; i < steps; ++i) (void)step(path_[i]->taken);
  if (failed_ == failure::none) fail(kind, why);
  for (uint32_t i = 0; kind == failure::deadlock && i < fibers(); ++i) {
    const fiber_state& at = state_.fibers[i];
    if (at.status == fiber_status::done) continue;
    current_ = i;
    if (at.status == fiber_status::at_operation) {
      const uint32_t word = at.pending.word;
      note("waits for " + name_of_word(word) + ", which holds " + hex(value_of(state_.latest[word], word)));
    } else {
      note("waits for its block or for the end of the launch");
    }
  }
  tracing_ = false;
  failed_ = kind;
}

/// States with equal hashes have the same futures. What can make no difference any more is left out: writes that every
/// thread has to read past, and the numbers of the writes but for their order.
uint64_t explorer::state_hash() {
  // Most of the search is spent here: no look at each byte whether there is room for it.
  constexpr size_t most_messages = max_writes + max_words;
  constexpr size_t most_bytes = most_messages * (sizeof(uint64_t) + 2 * sizeof(view)) +
                                max_fibers * (sizeof(fiber_state) + sizeof(block_state)) + sizeof(state_.slots) +
                                sizeof(call_log) + (1 + max_gpus) * sizeof(view) + max_words;
  canonical_.resize(most_bytes);
  uint8_t* end = canonical_.data();
  const auto put = [&end](const void* bytes, size_t count) {
    std::memcpy(end, bytes, count);
    end += count;
  };
  const auto put_byte = [&end](auto value) { *end++ = static_cast<uint8_t>(value); };
  const auto words = static_cast<uint32_t>(addresses_.size());
  uint8_t floor[max_words];
  for (uint32_t word = 0; word < words; ++word) {
    floor[word] = static_cast<uint8_t>(stamp_of(state_.latest[word]));
    for (uint32_t i = 0; form_.stale && i < fibers(); ++i) {
      if (state_.fibers[i].status == fiber_status::done) continue;
      floor[word] = std::min(floor[word], state_.fibers[i].now.seen[word]);
    }
  }
  const auto put_view = [&](const view& from) {
    put(from.clock, fibers());
    if (!form_.stale) return;
    for (uint32_t word = 0; word < words; ++word) {
      end[word] = static_cast<uint8_t>(std::max(from.seen[word], floor[word]) - floor[word]);
    }
    end += words;
  };
  for (uint32_t word = 0; word < words; ++word) {
    uint8_t kept = 0;
    for (uint32_t at = state_.latest[word];; at = state_.messages[at].previous) {
      const uint64_t value = value_of(at, word);
      put(&value, sizeof(value));
      put_view(at == no_message ? view{} : state_.messages[at].released);
      if (form_.stale && state_.masked_stores != 0) {
        view behind;  // what a fence will bring to those who have seen this write
        behind.seen[word] = static_cast<uint8_t>(stamp_of(at));
        see_whole_events(behind);
        put_view(behind);
      }
      ++kept;
      if (stamp_of(at) <= floor[word]) break;
    }
    put_byte(kept);
  }
  for (uint32_t i = 0; i < fibers(); ++i) {
    const fiber_state& at = state_.fibers[i];
    put_byte(at.status);
    put_byte(at.arriving);
    if (form_.looking) {
      put_byte(at.round.in_vain && at.round.writes == state_.writes);
    }
    if (at.status == fiber_status::done) continue;
    put(&at.history, sizeof(at.history));
    put_view(at.now);
    if (!form_.fences) continue;
    put_view(at.loaded);
    put_view(at.fenced);
  }
  if (form_.calls) {
    put(&state_.calls, sizeof(state_.calls));
    for (uint32_t i = 0; i < fibers(); ++i) {
      put(&state_.fibers[i].call.completed_before, sizeof(uint64_t));
      put_byte(state_.fibers[i].call.begins);
    }
  }
  if (form_.fences) put_view(state_.fences);
  for (uint32_t i = 0; i < form_.gpus; ++i) {
    if (state_.at_boundary[i] != 0) put_view(state_.boundary[i]);
  }
  for (uint32_t i = 0; i < form_.blocks; ++i) {
    const block_state& at = state_.blocks[i];
    const uint8_t small[3] = {at.met, at.held, at.arrived};
    put(small, sizeof(small));
    if (at.met != 0) put_view(at.gathered);
  }
  for (const auto& half : state_.slots) {
    for (uint32_t i = 0; i < fibers(); ++i) {
      put_byte(half[i].written);
      put(half[i].read, fibers());
    }
  }
  return hash_bytes(canonical_.data(), static_cast<size_t>(end - canonical_.data()));
}

}  // namespace gpusync::verify
