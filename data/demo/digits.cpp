#include "data/demo/digits.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "data/demo/digit_strokes.h"

namespace trefoil::data {
namespace {

constexpr int kSide = 28;
constexpr std::size_t kPixels = kSide * kSide;

/// xoshiro256** seeded by SplitMix64 (Blackman and Vigna, "Scrambled linear pseudorandom number generators",
/// 2021).
class DrawingCoins {
 public:
  DrawingCoins(std::uint64_t seed, DigitSet set, std::uint64_t index) {
    std::uint64_t mixer = seed;
    mixer = SplitMix(mixer) ^ static_cast<std::uint64_t>(set);
    mixer = SplitMix(mixer) ^ index;
    for (auto& word : state_) word = SplitMix(mixer);
  }

  std::uint64_t NextWord() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  /// Uniform in [low, high).
  double Between(double low, double high) {
    return low + (high - low) * std::ldexp(static_cast<double>(NextWord() >> 11), -53);
  }

  /// 0 to count - 1; its bias of count / 2^64 is no matter here.
  std::size_t Choose(std::size_t count) { return NextWord() % count; }

  /// Bell-shaped with this standard deviation, within 3.5 of them: a sum of four uniform numbers.
  double Bell(double deviation) {
    const double sum = Between(-1, 1) + Between(-1, 1) + Between(-1, 1) + Between(-1, 1);
    return deviation * 0.8660254037844386 * sum;
  }

 private:
  static std::uint64_t SplitMix(std::uint64_t& state) {
    std::uint64_t z = state += 0x9e3779b97f4a7c15U;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
  }

  std::array<std::uint64_t, 4> state_{};
};

/// An affine map of the unit square onto the image: how this writer slants, stretches and places a digit.
class Hand {
 public:
  explicit Hand(DrawingCoins& coins) {
    const double angle = coins.Bell(0.12);
    // The first terms of the series, since the library's sine may differ between machines in the last bit.
    const double cosine = 1 - angle * angle / 2;
    const double sine = angle - angle * angle * angle / 6;
    const double slant = coins.Bell(0.16);
    const double width = coins.Between(16, 23);
    const double height = coins.Between(19, 25);
    xx_ = cosine * width;
    xy_ = (-sine + slant) * height;
    yx_ = sine * width;
    yy_ = cosine * height;
    x0_ = kSide / 2.0 + coins.Bell(0.8);
    y0_ = kSide / 2.0 + coins.Bell(0.8);
  }

  [[nodiscard]] Point Map(Point p) const {
    const double u = p.x - 0.5;
    const double v = p.y - 0.5;
    return {x0_ + xx_ * u + xy_ * v, y0_ + yx_ * u + yy_ * v};
  }

 private:
  double xx_, xy_, yx_, yy_, x0_, y0_;
};

/// The squared distance of each pixel's centre from the ink's centre line, as far as the pen reaches.
class Canvas {
 public:
  explicit Canvas(double reach) : reach_(reach) { squared_.fill(reach * reach); }

  void DrawSegment(Point a, Point b) {
    const auto [left, right] = Span(a.x, b.x);
    const auto [top, bottom] = Span(a.y, b.y);
    const double dx = b.x - a.x;
    const double dy = b.y - a.y;
    const double length = dx * dx + dy * dy + 1e-12;
    for (int row = top; row < bottom; ++row) {
      for (int column = left; column < right; ++column) {
        const double px = column + 0.5 - a.x;
        const double py = row + 0.5 - a.y;
        const double t = std::clamp((px * dx + py * dy) / length, 0.0, 1.0);
        const double ex = px - t * dx;
        const double ey = py - t * dy;
        double& squared = squared_[static_cast<std::size_t>(row * kSide + column)];
        squared = std::min(squared, ex * ex + ey * ey);
      }
    }
  }

  [[nodiscard]] double Distance(std::size_t pixel) const { return std::sqrt(squared_[pixel]); }

 private:
  [[nodiscard]] std::pair<int, int> Span(double a, double b) const {
    const double low = std::clamp(std::min(a, b) - reach_ - 0.5, 0.0, double{kSide});
    const double high = std::clamp(std::max(a, b) + reach_ + 0.5, 0.0, double{kSide});
    return {static_cast<int>(low), static_cast<int>(high)};
  }

  double reach_;
  std::array<double, kPixels> squared_{};
};

/// A point between p1 and p2 of the Catmull-Rom spline, t in [0, 1].
Point OnSpline(Point p0, Point p1, Point p2, Point p3, double t) {
  const auto blend = [t](double a, double b, double c, double d) {
    return 0.5 * (2 * b + t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a))));
  };
  return {blend(p0.x, p1.x, p2.x, p3.x), blend(p0.y, p1.y, p2.y, p3.y)};
}

void DrawStroke(const Stroke& stroke, const Hand& hand, DrawingCoins& coins, Canvas& canvas) {
  constexpr double kJitter = 0.03;
  std::vector<Point> points;
  for (const Point p : stroke.points) {
    const double x = p.x + coins.Bell(kJitter);
    const double y = p.y + coins.Bell(kJitter);
    points.push_back(hand.Map({x, y}));
  }
  const int steps = stroke.smooth ? 4 : 1;
  for (std::size_t k = 0; k + 1 < points.size(); ++k) {
    const Point before = points[k == 0 ? 0 : k - 1];
    const Point after = points[std::min(k + 2, points.size() - 1)];
    Point from = points[k];
    for (int s = 1; s <= steps; ++s) {
      const Point to =
          s == steps ? points[k + 1] : OnSpline(before, points[k], points[k + 1], after, double(s) / steps);
      canvas.DrawSegment(from, to);
      from = to;
    }
  }
}

void DrawDigit(int digit, DrawingCoins& coins, std::uint8_t* pixels) {
  const auto& glyphs = GlyphsOf(digit);
  const Glyph& glyph = glyphs[coins.Choose(glyphs.size())];
  const Hand hand(coins);
  const double thickness = coins.Between(0.9, 1.8);  // half the pen's width, in pixels
  const double blur = coins.Between(0.7, 1.4);
  const double ink = coins.Between(200, 255);
  Canvas canvas(thickness + blur);
  for (const Stroke& stroke : glyph) DrawStroke(stroke, hand, coins, canvas);
  for (std::size_t i = 0; i < kPixels; ++i) {
    const double covered = std::clamp((thickness + blur - canvas.Distance(i)) / (2 * blur), 0.0, 1.0);
    if (covered == 0) continue;
    const double grey = covered * (ink + coins.Between(-25, 25));
    pixels[i] = static_cast<std::uint8_t>(std::clamp(grey, 0.0, 255.0));
  }
  for (std::size_t speckles = coins.Choose(8); speckles > 0; --speckles) {
    std::uint8_t& pixel = pixels[coins.Choose(kPixels)];
    pixel = std::max(pixel, static_cast<std::uint8_t>(coins.Choose(120)));
  }
}

}  // namespace

Digits DrawDigits(std::uint64_t seed, DigitSet set, std::size_t count) {
  Digits digits{{{count, kSide, kSide}, std::vector<std::uint8_t>(count * kPixels)},
                {{count}, std::vector<std::uint8_t>(count)}};
  for (std::size_t i = 0; i < count; ++i) {
    DrawingCoins coins(seed, set, i);
    const std::size_t digit = coins.Choose(10);
    digits.labels.values[i] = static_cast<std::uint8_t>(digit);
    DrawDigit(static_cast<int>(digit), coins, digits.images.values.data() + i * kPixels);
  }
  return digits;
}

void WriteDigits(const std::filesystem::path& folder, std::uint64_t seed, std::size_t train_count,
                 std::size_t test_count, std::size_t validation_count) {
  std::filesystem::create_directories(folder);
  const auto write = [&](const std::string& name, DigitSet set, std::size_t count) {
    const Digits digits = DrawDigits(seed, set, count);
    WriteIdx(folder / (name + "-images-idx3-ubyte.gz"), digits.images);
    WriteIdx(folder / (name + "-labels-idx1-ubyte.gz"), digits.labels);
  };
  write("train", DigitSet::kTrain, train_count);
  write("t10k", DigitSet::kTest, test_count);
  if (validation_count > 0) write("validation", DigitSet::kValidation, validation_count);
}

}  // namespace trefoil::data
