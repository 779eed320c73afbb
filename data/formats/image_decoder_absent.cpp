#include "base/error.h"
#include "data/formats/image_decoder.h"

namespace trefoil::data {

bool ImagesAreAvailable() { return false; }

void RequireImages() {
  throw ConfigError(
      "data.format: found \"images\", expected a build with it: install libpng-dev and libturbojpeg0-dev and "
      "configure with -DTREFOIL_IMAGES=ON");
}

std::vector<std::uint8_t> DecodeImage(std::string_view /*bytes*/, const ImageSize& /*size*/,
                                      const std::filesystem::path& /*place*/) {
  RequireImages();
  return {};
}

}  // namespace trefoil::data
