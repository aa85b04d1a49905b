/* The C interface, as a C99 program and as a C++ one, where there need not be a GPU. */
#include <gpusync/c.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

static void expect(int right, const char* what) {
  if (right) return;
  printf("FAILED: %s (last error: %s)\n", what, gpusync_last_error());
  ++failures;
}

static void expect_error(int code, int wanted, const char* words) {
  if (code == wanted && strstr(gpusync_last_error(), words) != NULL) return;
  printf("FAILED: code %d with \"%s\" was expected, not %d with \"%s\"\n", wanted, words, code, gpusync_last_error());
  ++failures;
}

static void write_an_image(void) {
  uint64_t bytes = 0;
  unsigned char *image, *again;
  expect(gpusync_image_bytes(132, &bytes) == GPUSYNC_OK && bytes % 128 == 0 && bytes > 128, "a number of bytes");
  image = (unsigned char*)malloc((size_t)bytes);
  again = (unsigned char*)malloc((size_t)bytes);
  memset(image, 0x55, (size_t)bytes);
  memset(again, 0xaa, (size_t)bytes);
  expect(gpusync_write_image(132, 132, 1 << 20, 0, image, bytes) == GPUSYNC_OK, "an image");
  expect(gpusync_write_image(132, 132, 1 << 20, 0, again, bytes) == GPUSYNC_OK, "the same image");
  expect(memcmp(image, again, (size_t)bytes) == 0, "every byte of an image is written");
  expect(memcmp(image, "gpusync\1", 8) == 0, "an image begins with its tag");
  expect_error(gpusync_write_image(132, 132, 1 << 20, 0, image, bytes - 1), GPUSYNC_INVALID_ARGUMENT,
               "this buffer has ");
  expect_error(gpusync_write_image(132, 132, 64, 0, image, bytes), GPUSYNC_INVALID_ARGUMENT, "a multiple of 128 bytes");
  free(image);
  free(again);
}

static void refuse(void) {
  gpusync_barrier* barrier = NULL;
  uint64_t number = 0;
  void* arguments[1] = {NULL};
  const int device = 99; /* no machine has so many */
  expect_error(gpusync_image_bytes(0, &number), GPUSYNC_INVALID_ARGUMENT, "serves 1 to 32767 blocks, not 0.");
  expect_error(gpusync_barrier_create(device, 132, &barrier), GPUSYNC_NO_SUCH_DEVICE, "CUDA device");
  expect_error(gpusync_barrier_create(device, 132, NULL), GPUSYNC_INVALID_ARGUMENT, "No place for the barrier");
  expect_error(gpusync_barrier_create_at(device, 132, &number, 8, &barrier), GPUSYNC_NO_SUCH_DEVICE, "CUDA device");
  expect_error(gpusync_resident_blocks(device, &number, 256, 0, &number), GPUSYNC_NO_SUCH_DEVICE, "CUDA device");
  expect_error(gpusync_resident_blocks(device, &number, 256, 0, NULL), GPUSYNC_INVALID_ARGUMENT, "but null");
  expect_error(gpusync_check_launch(NULL, &number, 1, 1, 0, NULL), GPUSYNC_INVALID_ARGUMENT, "No barrier");
  expect_error(gpusync_launch(NULL, &number, 1, 1, 0, NULL, arguments, 1), GPUSYNC_INVALID_ARGUMENT, "No barrier");
  expect_error(gpusync_barrier_reset(NULL), GPUSYNC_INVALID_ARGUMENT, "No barrier");
  expect_error(gpusync_barrier_hand_over(NULL), GPUSYNC_INVALID_ARGUMENT, "No barrier");
  expect(barrier == NULL, "what was refused has made nothing");
  gpusync_barrier_destroy(NULL);
}

int main(void) {
  expect(strlen(gpusync_version()) >= 5, "a version");
  write_an_image();
  refuse();
  return failures == 0 ? 0 : 1;
}
