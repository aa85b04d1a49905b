// What the storages of windows have in common, whatever memory is behind them.
#pragma once

#include <memory>
#include <string>

#include <gpusync/core/storage_control.hpp>
#include <gpusync/pace/grid_window.hpp>

namespace gpusync::detail {

/// The lead of a window, or throws invalid_argument if there cannot be such a one.
inline uint32_t require_lead(uint64_t lead) {
  constexpr uint32_t most = 4096;
  if (lead >= 1 && lead <= most) return static_cast<uint32_t>(lead);
  throw invalid_argument("A window has a lead of 1 to " + std::to_string(most) + " epochs, not " +
                         std::to_string(lead) + ".");
}

/// The base of cuda_window_storage and host_window_storage.
template <class Grid, class Policy, class Backend>
class window_storage {
 public:
  /// The window to hand to a kernel.
  basic_grid_window<Grid, Policy> window() {
    constexpr handle_kind kind = Policy::bounded ? handle_kind::best_effort_window : handle_kind::strict_window;
    return basic_grid_window<Grid, Policy>({{handle_header::magic, control_->number(), kind, 0, 0}, places_, limit_});
  }

  /// Epochs that a block may be ahead of the slowest.
  uint32_t lead() const { return places_.lead; }
  /// How many blocks of the last launch have given up pacing. Blocks until the device is idle.
  uint32_t given_up() const { return control_->words.read()[size_t(places_.given_up() - places_.words)]; }
  /// Bytes of the memory that blocks share.
  size_t bytes() const { return control_->words.bytes(); }
  /// The counters, for tests.
  uint32_t* state() { return control_->words.data(); }

 protected:
  window_storage(const typename Backend::place& where, uint64_t lead, timeout limit)
      : limit_(limit.nanoseconds()),
        control_(std::make_unique<control>(where, window_places::words_for(require_lead(lead), line_words))),
        places_{control_->words.data(), static_cast<uint32_t>(lead),
                window_places::slots_for(static_cast<uint32_t>(lead)), line_words} {}

  void forget_order() { control_->order.forget(); }

 private:
  /// Has what is behind the storage, for it must stay where it is when the storage is moved.
  class control final : public storage_control {
   public:
    control(const typename Backend::place& where, size_t count)
        : words(where, count), order(where), device_(Backend::device(where)), count_(count) {
      this->enlist();
    }
    ~control() override { this->retire(); }

    int device() const override { return device_; }
    void check(const handle_header&, const launch_request& launch) override {
      require_device(launch.device, device_, "A window's storage");
      order.check(launch);
    }
    void prepare(const handle_header&, const launch_request& launch) override {
      order.follow();
      words.clear(0, count_, launch);
    }
    void release() override { order.release(); }

    typename Backend::template words<uint32_t> words;
    typename Backend::order order;

   private:
    int device_;
    size_t count_;
  };

  uint64_t limit_;
  std::unique_ptr<control> control_;
  window_places places_;
};

}  // namespace gpusync::detail
