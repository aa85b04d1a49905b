#include "explorer/fiber.hpp"

#include <ucontext.h>

#include <cstdint>
#include <cstring>

namespace gpusync::verify {

fiber::fiber(std::function<void()> body)
    : body_(std::move(body)), stack_(std::make_unique_for_overwrite<std::byte[]>(stack_bytes)) {}

void fiber::enter(unsigned high, unsigned low) {
  auto* self = reinterpret_cast<fiber*>(static_cast<uintptr_t>(high) << 32 | low);
  self->body_();
  for (;;) self->leave();
}

// swapcontext() changes the signal mask with a system call each time; ucontext is used for the first entry only.
void fiber::resume() {
  if (_setjmp(outside_) != 0) return;
  if (started_) _longjmp(inside_, 1);
  started_ = true;
  ucontext_t first;
  getcontext(&first);
  first.uc_stack.ss_sp = stack_.get();
  first.uc_stack.ss_size = stack_bytes;
  first.uc_link = nullptr;
  const auto self = reinterpret_cast<uintptr_t>(this);
  makecontext(&first, reinterpret_cast<void (*)()>(&fiber::enter), 2, static_cast<unsigned>(self >> 32),
              static_cast<unsigned>(self));
  setcontext(&first);
}

[[gnu::noinline]] void fiber::leave() {
  const auto* here = static_cast<std::byte*>(__builtin_frame_address(0));
  from_ = static_cast<size_t>(here - stack_.get()) - margin;
  if (_setjmp(inside_) == 0) _longjmp(outside_, 1);
}

void fiber::save(image& to) const {
  std::memcpy(&to.context, &inside_, sizeof(inside_));
  to.from = from_;
  to.bytes.assign(stack_.get() + from_, stack_.get() + stack_bytes);
}

void fiber::restore(const image& from) {
  std::memcpy(&inside_, &from.context, sizeof(inside_));
  from_ = from.from;
  std::memcpy(stack_.get() + from_, from.bytes.data(), from.bytes.size());
}

}  // namespace gpusync::verify
