// A clock for devices that tests make up.
#pragma once

#include <memory>

#include "boundary/device_clock.hpp"

namespace gpusync::tool {

/// As long as it lives, devices of that kind have a clock of so many megahertz.
class known_clock {
 public:
  known_clock(device_kind kind, double mhz) : kind_(kind), before_(side_openers<device_clock>()[{"", kind}]) {
    side_openers<device_clock>()[{"", kind}] = [mhz](const device_description&) {
      return std::make_unique<fixed>(mhz);
    };
  }
  known_clock(const known_clock&) = delete;
  known_clock& operator=(const known_clock&) = delete;
  ~known_clock() {
    auto& all = side_openers<device_clock>();
    if (before_) {
      all[{"", kind_}] = before_;
    } else {
      all.erase({"", kind_});
    }
  }

 private:
  class fixed : public device_clock {
   public:
    explicit fixed(double mhz) : mhz_(mhz) {}
    double mhz() override { return mhz_; }

   private:
    const double mhz_;
  };

  const device_kind kind_;
  const side_opener<device_clock> before_;
};

}  // namespace gpusync::tool
