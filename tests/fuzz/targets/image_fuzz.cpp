// A PNG or JPEG file, of 8 x 8 pixels in grey or colour as a job may say; decoded where the program can do
// that.
#include "base/error.h"
#include "data/formats/image_decoder.h"
#include "data/formats/image_file.h"
#include "tests/fuzz/fuzz.h"

namespace trefoil::fuzz::image_target {

void Read(std::span<const std::uint8_t> input) {
  for (const int channels : {1, 3}) {
    const data::ImageSize size{.height = 8, .width = 8, .channels = channels};
    ReadAs<DataError>([&] {
      const auto bytes = data::CheckedImage(std::string(Text(input)), size, "image");
      Check(bytes.size() <= input.size(), "more bytes than there were");
      if (!data::ImagesAreAvailable()) return 0;
      const auto values = data::DecodeImage(bytes, size, "image");
      Check(static_cast<std::int64_t>(values.size()) == size.values(),
            "another number of values than of its size");
      return 1;
    });
  }
}

const Target kTarget("image", Read);

}  // namespace trefoil::fuzz::image_target
