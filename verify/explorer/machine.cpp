// The modelled machine: what an operation does to memory and to what its thread has seen.
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "explorer/explorer.hpp"

namespace gpusync::verify {

namespace {

bool acquires(memory_order order) {
  return order != memory_order::relaxed && order != memory_order::release;
}
bool releases(memory_order order) {
  return order != memory_order::relaxed && order != memory_order::acquire;
}

const char* name(memory_order order) {
  switch (order) {
    case memory_order::relaxed: return "relaxed";
    case memory_order::acquire: return "acquire";
    case memory_order::release: return "release";
    case memory_order::acq_rel: return "acq_rel";
    case memory_order::seq_cst: return "seq_cst";
  }
  return "?";
}

const char* name(action what) {
  switch (what) {
    case action::load: return "load";
    case action::store: return "store";
    case action::add: return "add";
    case action::fetch_add: return "fetch_add";
    case action::modify: return "modify";
    case action::store_several: return "masked store";
    case action::fence: return "fence";
  }
  return "?";
}

}  // namespace

std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

uint32_t explorer::word_at(const void* address, size_t bytes) {
  const auto [at, added] = word_ids_.try_emplace(address, static_cast<uint32_t>(addresses_.size()));
  if (added) {
    if (addresses_.size() == max_words) throw std::length_error("The explorer is built for fewer words.");
    addresses_.push_back(address);
    // The words themselves never change: what is written lives in the model.
    uint64_t value = 0;
    std::memcpy(&value, address, bytes);
    initial_.push_back(value);
  }
  return at->second;
}

uint64_t explorer::perform(action what, memory_order order, const void* address, size_t bytes, uint64_t operand) {
  if (bytes != 4 && bytes != 8) throw std::logic_error("The explorer's words have 32 bits, or 64.");
  if (address != nullptr && ignored(address)) {
    if (what == action::store) return 0;
    throw std::logic_error("A word whose stores are ignored was used otherwise.");
  }
  operation next;
  next.what = what;
  next.order = order;
  next.word = static_cast<uint8_t>(address == nullptr ? 0 : word_at(address, bytes));
  next.operand = operand;
  next.second = bytes == 4 ? 0xffffffffu : ~uint64_t{0};  // of a sum, so many bits
  return perform(next);
}

uint64_t explorer::modify(memory_order order, const void* address, size_t bytes, changed_value change, uint64_t operand,
                          uint64_t second) {
  operation next;
  next.what = action::modify;
  next.order = order;
  next.word = static_cast<uint8_t>(word_at(address, bytes));
  next.operand = operand;
  next.second = second;
  next.change = change;
  return perform(next);
}

uint64_t explorer::load_or_give_up(memory_order order, const void* address, size_t bytes, bool& gave_up) {
  operation next;
  next.what = action::load;
  next.order = order;
  next.word = static_cast<uint8_t>(word_at(address, bytes));
  next.may_give_up = true;
  const uint64_t value = perform(next);
  gave_up = self().gave_up;
  return value;
}

void explorer::store_several(uint32_t count, const void* const* addresses, size_t bytes, const uint64_t* values) {
  if (count > most_at_once) throw std::length_error("The explorer is built for fewer words in one store.");
  operation next;
  next.what = action::store_several;
  next.count = static_cast<uint8_t>(count);
  for (uint32_t i = 0; i < count; ++i) {
    next.words[i] = static_cast<uint8_t>(word_at(addresses[i], bytes));
    next.values[i] = values[i];
  }
  next.word = next.words[0];
  (void)perform(next);
}

uint64_t explorer::load_at_once(memory_order order, const void* address, size_t bytes) {
  operation next;
  next.what = action::load;
  next.order = order;
  next.word = static_cast<uint8_t>(word_at(address, bytes));
  return perform_at_once(next);
}

uint64_t explorer::perform_at_once(const operation& next) {
  fiber_state& own = self();
  const bool begins = own.call.begins;
  own.call.begins = false;  // a call may be taken to begin after an access that no other thread has to do with
  own.pending = next;
  apply({current_, state_.latest[next.word]});
  own.call.begins = begins;
  return own.result;
}

void explorer::store_at_once(memory_order order, const void* address, size_t bytes, uint64_t value) {
  operation next;
  next.what = action::store;
  next.order = order;
  next.word = static_cast<uint8_t>(word_at(address, bytes));
  next.operand = value;
  (void)perform_at_once(next);
}

uint64_t explorer::perform(const operation& next) {
  fiber_state& own = self();
  own.pending = next;
  own.status = fiber_status::at_operation;
  const uint32_t index = current_;
  stacks_[index]->leave();
  return state_.fibers[index].result;
}

void explorer::write(fiber_state& own, uint32_t word, uint64_t value, const view* continued) {
  if (state_.writes == max_writes) throw std::length_error("The explorer is built for fewer writes.");
  const uint32_t stamp = stamp_of(state_.latest[word]) + 1;
  if (stamp > 255) throw std::length_error("The explorer is built for fewer writes to a word.");
  own.now.seen[word] = static_cast<uint8_t>(stamp);
  message& made = state_.messages[state_.writes];
  made = {value,
          state_.latest[word],
          stamp,
          static_cast<uint8_t>(word),
          0,
          0,
          releases(own.pending.order) ? own.now : own.fenced};
  made.released.seen[word] = static_cast<uint8_t>(stamp);
  if (continued != nullptr) made.released.join(*continued);
  state_.latest[word] = state_.writes++;
}

/// A fence behind a store to a word that a masked store had stored to, or behind a load of what came from one, brings
/// the whole of that store: it is one event, so the thread is behind all of it.
void explorer::see_whole_events(view& of) const {
  for (bool more = state_.masked_stores != 0; more;) {
    more = false;
    for (uint32_t word = 0; word < addresses_.size(); ++word) {
      for (uint32_t at = state_.latest[word]; at != no_message; at = state_.messages[at].previous) {
        const message& seen = state_.messages[at];
        if (seen.stamp > of.seen[word]) continue;
        for (uint32_t other = at - seen.before; other <= at + seen.behind; ++other) {
          const message& with = state_.messages[other];
          if (of.seen[with.word] >= with.stamp) continue;
          of.seen[with.word] = static_cast<uint8_t>(with.stamp);
          more = true;
        }
      }
    }
  }
}

void explorer::apply(const choice& taken) {
  fiber_state& own = self();
  const operation& next = own.pending;
  const uint32_t word = next.word;
  if (own.arriving > 0) {
    uint8_t& arrived = state_.blocks[block()].arrived;
    arrived = std::max(arrived, own.arriving);
  }
  if (form_.calls) {
    if (own.call.begins) {
      own.call.begins = false;
      own.call.completed_before = state_.calls.completed;
      state_.calls.begun |= own.call.mask;
    }
    most_call_steps_ = std::max<uint64_t>(most_call_steps_, ++own.call.steps);
  }
  own.last_was_load = next.what == action::load;
  own.last_word = next.word;
  own.last_message = taken.message;
  own.result = 0;
  own.gave_up = taken.message == gives_up;
  if (own.gave_up) {
    own.last_was_load = false;
    own.round = poll_round{};
    own.history = hash_bytes(&own.history, sizeof(own.history), gives_up);
    if (tracing_) note("gives up " + name_of_word(word));
    return;
  }
  if (next.what == action::fence) {
    if (!form_.fences) throw std::logic_error("A check of a program with fences must say so.");
    own.now.join(own.loaded);
    own.now.join(state_.fences);
    see_whole_events(own.now);
    state_.fences = own.now;
    own.fenced = own.now;
    note("fence");
  } else {
    const uint64_t before = value_of(taken.message, word);
    const view seen = taken.message == no_message ? view{} : state_.messages[taken.message].released;
    if (next.what != action::store && next.what != action::store_several) {
      own.now.seen[word] = std::max(own.now.seen[word], static_cast<uint8_t>(stamp_of(taken.message)));
      if (form_.fences) own.loaded.join(seen);
      if (acquires(next.order)) own.now.join(seen);
    }
    uint64_t after = before;
    if (next.what == action::load || next.what == action::fetch_add || next.what == action::modify) {
      own.result = before;
    }
    const bool stale = taken.message != state_.latest[word];
    if (next.what == action::store) {
      after = next.operand;
      write(own, word, after, nullptr);
    } else if (next.what == action::store_several) {
      ++state_.masked_stores;
      for (uint32_t i = 0; i < next.count; ++i) {
        write(own, next.words[i], next.values[i], nullptr);
        message& made = state_.messages[state_.writes - 1];
        made.before = static_cast<uint8_t>(i);
        made.behind = static_cast<uint8_t>(next.count - 1 - i);
      }
      const uint32_t first = state_.writes - next.count;
      for (uint32_t i = 0; i < next.count; ++i) {
        for (uint32_t j = 0; j < next.count; ++j) {
          state_.messages[first + i].released.seen[next.words[j]] =
              static_cast<uint8_t>(state_.messages[first + j].stamp);
        }
      }
      after = next.values[0];
    } else if (next.what == action::modify) {
      after = next.change(before, next.operand, next.second);
      if (after != before) write(own, word, after, &seen);
    } else if (next.what != action::load) {
      after = (before + next.operand) & next.second;
      write(own, word, after, &seen);
    }
    if (tracing_) {
      note(std::string(name(next.what)) + " " + name_of_word(word) + " (" + name(next.order) + "): " + hex(before) +
           (stale ? ", stale" : "") + (next.what == action::load ? "" : " -> " + hex(after)));
    }
  }
  if (next.what == action::load) {
    poll_round& round = own.round;
    if (round.count++ == 0) round.first = next.word;
    const uint64_t read[3] = {round.reads, own.result, next.word};
    round.reads = hash_bytes(read, sizeof(read));
  } else {
    own.round = poll_round{};
  }
  const uint64_t step[3] = {own.history, own.result, static_cast<uint64_t>(next.what)};
  own.history = hash_bytes(step, sizeof(step));
}

/// Right after a relaxed load of the same word this is no step of its own. It reads what the load has read: a later
/// value would only bring more, and a thread that knows more can do nothing that one that knows less cannot.
void explorer::acquire_last(const void* address, size_t bytes) {
  fiber_state& own = self();
  if (!own.last_was_load || own.last_word != word_at(address, bytes)) {
    (void)perform(action::load, memory_order::acquire, address, bytes, 0);
    return;
  }
  if (own.last_message != no_message) own.now.join(state_.messages[own.last_message].released);
  if (tracing_) note("acquire " + name_of_word(own.last_word));
}

/// After a failed poll that has read one word and reads it again next, the thread is where it was: no step.
///
/// A poll that looks at more words goes round after round. Where a thread then stands depends on how it came to the
/// wait and on what the last round has read, so that earlier rounds are forgotten. A round that has read what the one
/// before it did is in vain, and so are all further ones until something is written.
void explorer::pause() {
  fiber_state& own = self();
  if (!own.last_was_load) throw std::logic_error("A pause must follow a failed poll.");
  poll_round& round = own.round;
  if (!form_.looking || round.count == 1) {
    own.status = fiber_status::paused;
    stacks_[current_]->leave();
    return;
  }
  if (round.first != round.previous) round.base = own.history;
  const uint64_t parts[2] = {round.base, round.reads};
  own.history = hash_bytes(parts, sizeof(parts));
  round.in_vain = own.history == round.reached && round.writes == state_.writes;
  round.reached = own.history;
  round.writes = state_.writes;
  round.previous = round.first;
  round.reads = 0;
  round.count = 0;
}

uint32_t explorer::meet_block(bool value) {
  if (form_.threads == 1) return value ? 1 : 0;
  const uint32_t index = current_;
  const uint32_t first = block() * form_.threads;
  block_state& at = state_.blocks[block()];
  at.held = static_cast<uint8_t>(at.held + (value ? 1 : 0));
  at.gathered.join(self().now);
  if (++at.met < form_.threads) {
    self().status = fiber_status::meeting;
    stacks_[index]->leave();
  } else {
    at.told = at.held;
    for (uint32_t i = first; i < first + form_.threads; ++i) {
      fiber_state& other = state_.fibers[i];
      other.now = at.gathered;
      other.status = fiber_status::runnable;
      const uint64_t met[2] = {other.history, at.told == 0 ? 2u : at.told == 1 ? 1u : at.told + 1u};
      other.history = hash_bytes(met, sizeof(met));
    }
    at.met = 0;
    at.held = 0;
    at.gathered = view{};
    for (uint32_t& threads : at.shared_written) threads = 0;
    for (uint32_t& threads : at.shared_alike) threads = 0;
    for (uint32_t& threads : at.shared_read) threads = 0;
    note("meets the threads of its block");
  }
  return state_.blocks[index / form_.threads].told;
}

void explorer::share(uint32_t index, uint32_t value) {
  block_state& at = state_.blocks[block()];
  const uint32_t own = 1u << thread();
  if (((at.shared_written[index] | at.shared_alike[index] | at.shared_read[index]) & ~own) != 0) {
    fail(failure::data_race, "writes a shared word that others of its block access without having met it");
  }
  at.shared_written[index] |= own;
  at.shared[index] = value;
}

void explorer::share_alike(uint32_t index, uint32_t value) {
  block_state& at = state_.blocks[block()];
  const uint32_t own = 1u << thread();
  const bool another = (at.shared_alike[index] & ~own) != 0 && at.shared[index] != value;
  if (another || ((at.shared_written[index] | at.shared_read[index]) & ~own) != 0) {
    fail(failure::data_race, "writes a shared word that others of its block access otherwise without having met it");
  }
  at.shared_alike[index] |= own;
  at.shared[index] = value;
}

void explorer::count_shared(uint32_t index) {
  block_state& at = state_.blocks[block()];
  share_alike(index, at.shared[index]);  // as far as races are concerned
  ++at.shared[index];
}

uint32_t explorer::shared(uint32_t index) {
  block_state& at = state_.blocks[block()];
  const uint32_t own = 1u << thread();
  if (((at.shared_written[index] | at.shared_alike[index]) & ~own) != 0) {
    fail(failure::data_race, "reads a shared word that others of its block write without having met it");
  }
  at.shared_read[index] |= own;
  const uint32_t value = at.shared[index];
  const uint64_t read[2] = {self().history, value};
  self().history = hash_bytes(read, sizeof(read));
  return value;
}

void explorer::end_launch() {
  const uint32_t index = current_, on = gpu();
  const uint32_t count = blocks_of_gpu() * form_.threads;
  view& boundary = state_.boundary[on];
  boundary.join(self().now);
  if (++state_.at_boundary[on] < count) {
    self().status = fiber_status::between;
    stacks_[index]->leave();
    return;
  }
  note("the launch ends");
  for (uint32_t i = on * count; i < (on + 1) * count; ++i) {
    state_.fibers[i].now = boundary;
    state_.fibers[i].status = fiber_status::runnable;
  }
  state_.at_boundary[on] = 0;
  boundary = view{};
}

void explorer::write_slot(uint32_t half) {
  write_slot(half, [](uint32_t) { return true; });
}

void explorer::write_slot(uint32_t half, const std::function<bool(uint32_t)>& counts) {
  fiber_state& own = self();
  slot_state& slot = state_.slots[half][current_];
  for (uint32_t i = 0; i < fibers(); ++i) {
    if (counts(i / form_.threads) && slot.read[i] > own.now.clock[i]) {
      fail(failure::data_race, "writes its slot while " + name_of_fiber(i) + " may still read it");
    }
  }
  slot.written = ++own.now.clock[current_];
  if (tracing_) note("writes its slot of half " + std::to_string(half));
}

void explorer::read_slots(uint32_t half, const std::function<bool(uint32_t)>& wanted) {
  fiber_state& own = self();
  const uint8_t clock = ++own.now.clock[current_];
  if (tracing_) note("reads the slots of half " + std::to_string(half));
  for (uint32_t i = 0; i < fibers(); ++i) {
    if (!wanted(i / form_.threads)) continue;
    slot_state& slot = state_.slots[half][i];
    if (slot.written > own.now.clock[i]) {
      fail(failure::data_race, "the slot of " + name_of_fiber(i) + " was written, but not before this read");
    }
    slot.read[current_] = clock;
  }
}

void explorer::arriving(uint32_t phase) {
  self().arriving = static_cast<uint8_t>(phase + 1);
}

void explorer::passing(uint32_t phase, const std::function<bool(uint32_t)>& member) {
  if (tracing_) note("passes phase " + std::to_string(phase));
  for (uint32_t i = 0; i < form_.blocks; ++i) {
    if (member(i) && state_.blocks[i].arrived <= phase) {
      fail(failure::early_release,
           "is released from phase " + std::to_string(phase) + ", in which block " + std::to_string(i) + " is missing");
    }
  }
}

void explorer::begin_call(uint64_t mask) {
  self().call = {};
  self().call.mask = mask;
  self().call.begins = true;
}

void explorer::end_call() {
  state_.calls.completed |= self().call.mask;
  self().call = {};
}

uint32_t explorer::others_may_read() const {
  uint32_t together = 0;
  for (uint32_t i = 0; i < fibers(); ++i) {
    if (i != current_ && state_.fibers[i].status != fiber_status::done) together |= state_.fibers[i].may_read;
  }
  return together;
}

void explorer::checkpoint(uint32_t phase, const void* bytes, size_t count) {
  self().history = hash_bytes(bytes, count, phase);
  self().round = poll_round{};
}

void explorer::fail(failure kind, const std::string& text) {
  if (failed_ != failure::none) return;
  failed_ = kind;
  if (tracing_) {
    note("*** " + text);
  } else {
    trace_ = text;
  }
}

std::string explorer::name_of_fiber(uint32_t index) const {
  return std::to_string(index / form_.threads) + "." + std::to_string(index % form_.threads);
}

std::string explorer::name_of_word(uint32_t word) const {
  const named_place* best = nullptr;
  for (const named_place& one : named_) {
    if (one.from <= addresses_[word] && (best == nullptr || one.from > best->from)) best = &one;
  }
  if (best == nullptr) return "a word";
  const auto distance = static_cast<const char*>(addresses_[word]) - static_cast<const char*>(best->from);
  return best->name + "[" + std::to_string(distance / static_cast<std::ptrdiff_t>(best->bytes)) + "]";
}

void explorer::note(const std::string& text) {
  if (tracing_) trace_ += "      " + name_of_fiber(current_) + "  " + text + "\n";
}

}  // namespace gpusync::verify
