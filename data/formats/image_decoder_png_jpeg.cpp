#include <png.h>
#include <turbojpeg.h>

#include <memory>

#include "data/formats/file.h"
#include "data/formats/image_decoder.h"

namespace trefoil::data {
namespace {

namespace fs = std::filesystem;

struct FreePng {
  void operator()(png_image* image) const { png_image_free(image); }
};

struct FreeJpeg {
  void operator()(void* handle) const { tjDestroy(handle); }
};

[[noreturn]] void RefuseImage(const fs::path& place, const char* kind, const std::string& why) {
  ThrowDataError(place, "", std::string("a damaged ") + kind + " file (" + why + ")",
                 "a whole PNG or JPEG file");
}

void DecodePng(std::string_view bytes, const ImageSize& size, const fs::path& place, std::uint8_t* values) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  const std::unique_ptr<png_image, FreePng> end(&image);
  if (png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()) == 0)
    RefuseImage(place, "PNG", image.message);
  if (image.width != static_cast<png_uint_32>(size.width) ||
      image.height != static_cast<png_uint_32>(size.height))
    RefuseImage(place, "PNG", "another size than its head says");
  image.format = size.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  if (png_image_finish_read(&image, nullptr, values, 0, nullptr) == 0 || image.warning_or_error != 0)
    RefuseImage(place, "PNG", image.message);
}

void DecodeJpeg(std::string_view bytes, const ImageSize& size, const fs::path& place, std::uint8_t* values) {
  const std::unique_ptr<void, FreeJpeg> handle(tjInitDecompress());
  const auto* file = reinterpret_cast<const unsigned char*>(bytes.data());
  const auto length = static_cast<unsigned long>(bytes.size());
  int width = 0;
  int height = 0;
  int sampling = 0;
  int colours = 0;
  // It fails, too, where colours are sampled in a way that has no name, which can be decoded.
  const bool read =
      tjDecompressHeader3(handle.get(), file, length, &width, &height, &sampling, &colours) == 0;
  if (!read && width == 0) RefuseImage(place, "JPEG", tjGetErrorStr2(handle.get()));
  if (width != size.width || height != size.height)
    RefuseImage(place, "JPEG", "another size than its head says");
  // What libjpeg warns of (data that end early, go on, or are no code) it would fill with grey.
  constexpr int kFlags = TJFLAG_STOPONWARNING | TJFLAG_LIMITSCANS | TJFLAG_ACCURATEDCT;
  if (tjDecompress2(handle.get(), file, length, values, width, 0, height,
                    size.channels == 1 ? TJPF_GRAY : TJPF_RGB, kFlags) != 0)
    RefuseImage(place, "JPEG", tjGetErrorStr2(handle.get()));
}

}  // namespace

bool ImagesAreAvailable() { return true; }

void RequireImages() {}

std::vector<std::uint8_t> DecodeImage(std::string_view bytes, const ImageSize& size, const fs::path& place) {
  std::vector<std::uint8_t> values(static_cast<std::size_t>(size.values()));
  const auto decode = bytes.starts_with('\x89') ? DecodePng : DecodeJpeg;
  decode(bytes, size, place, values.data());
  return values;
}

}  // namespace trefoil::data
