// The same on host threads, and what a wait says of a neighbour that does not come.
#include <gpusync/neighbours/host.hpp>

#include <cstdio>
#include <vector>

using namespace gpusync::literals;

int main() {
  constexpr unsigned blocks = 6, steps = 100;
  gpusync::host_halo_storage<float> storage(gpusync::neighbourhood::ring(blocks), 1);
  std::vector<float> points(blocks, 0.0f);
  points[0] = 1.0f;

  const auto flow = [&](gpusync::host_halo<float> halo, unsigned absent) {
    const unsigned block = gpusync::host_grid::current().block();
    if (block == absent) return;
    float mine = points[block];
    const gpusync::halo_word beside[2] = {halo.word(0, 0), halo.word(1, 0)};
    for (unsigned step = 0; step < steps; ++step) {
      halo.put(0, mine);
      halo.send();
      if (halo.receive_for(50_ms) == gpusync::wait_status::timed_out) return;
      float theirs[2];
      const gpusync::wait_status got = halo.get_for(beside, theirs, 50_ms);
      if (halo.next_for(got) == gpusync::wait_status::timed_out) return;
      mine = 0.5f * mine + 0.25f * (theirs[0] + theirs[1]);
    }
    points[block] = mine;
  };

  gpusync::launch(gpusync::host_device{}, {blocks, 1}, flow, storage.halo(), blocks);
  float sum = 0;
  for (const float point : points) sum += point;
  std::printf("All came: the heat is %.3f, as before.\n", static_cast<double>(sum));

  gpusync::launch(gpusync::host_device{}, {blocks, 1}, flow, storage.halo(), 3u);
  std::printf("%s\n", storage.report().c_str());
  // Who is named is a neighbour that had not come: block 3, or one that waits for it itself.
  return sum > 0.999f && sum < 1.001f && !storage.missing().empty() ? 0 : 1;
}
