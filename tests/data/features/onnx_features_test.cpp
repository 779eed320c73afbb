#include "data/features/onnx_features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <future>
#include <limits>
#include <random>

#include "data/features/onnx_writer.h"
#include "data/formats/file.h"
#include "tests/data/temporary_folder.h"

namespace trefoil::data {
namespace {

using testing::HasSubstr;

Matrix RandomMatrix(Eigen::Index rows, Eigen::Index columns, unsigned seed) {
  std::mt19937 random(seed);
  Matrix matrix(rows, columns);
  for (auto& value : matrix.reshaped()) value = static_cast<float>(random() % 2001U) / 1000.0F - 1;
  return matrix;
}

std::vector<float> Values(const Matrix& matrix) { return {matrix.data(), matrix.data() + matrix.size()}; }

class ExtractOnnxTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!OnnxIsAvailable()) GTEST_SKIP() << "built without OpenCV (TREFOIL_ONNX)";
  }

  /// A dense layer of six inputs and three outputs, with ReLU; its constants are weights_ and bias_.
  std::filesystem::path WriteDense() {
    OnnxWriter model;
    model.AddConstant("w", {3, 6}, Values(weights_));
    model.AddConstant("b", {3}, Values(bias_));
    model.AddNode("Gemm", {"x", "w", "b"}, "z", {{"transB", 1}});
    model.AddNode("Relu", {"z"}, "y");
    return folder_.Put("dense.onnx", model.Finish({"x", {1, 6}}, {"y", {1, 3}}));
  }

  static OnnxSpec SpecOf(const std::filesystem::path& model, std::vector<int> input, std::int64_t outputs) {
    return {.model_sha256 = FileSha256(model), .input = std::move(input), .outputs = outputs};
  }

  TemporaryFolder folder_;
  ThreadPool pool_{2};
  Matrix weights_ = RandomMatrix(3, 6, 1);
  Matrix bias_ = RandomMatrix(1, 3, 2);
};

TEST_F(ExtractOnnxTest, RunsADenseLayer) {
  const auto model = WriteDense();
  const Matrix x = RandomMatrix(50, 6, 3);
  const Matrix expected = ((x * weights_.transpose()).rowwise() + bias_.row(0)).cwiseMax(0.0F);
  EXPECT_LT((ExtractOnnx(x, SpecOf(model, {6}, 3), model, pool_) - expected).cwiseAbs().maxCoeff(), 1e-5);
  EXPECT_EQ(ExtractOnnx(Matrix(0, 6), SpecOf(model, {6}, 3), model, pool_).rows(), 0);
}

TEST_F(ExtractOnnxTest, RunsAConvolution) {
  const Matrix kernels = RandomMatrix(2, 9, 4);
  OnnxWriter writer;
  writer.AddConstant("k", {2, 1, 3, 3}, Values(kernels));
  writer.AddNode(
      "Conv", {"x", "k"}, "c",
      {{"kernel_shape", std::vector<std::int64_t>{3, 3}}, {"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
  writer.AddNode("Relu", {"c"}, "r");
  writer.AddNode("Flatten", {"r"}, "y", {{"axis", 1}});
  const auto model = folder_.Put("convolution.onnx", writer.Finish({"x", {1, 1, 4, 5}}, {"y", {1, 40}}));
  const Matrix x = RandomMatrix(20, 20, 5);

  const Matrix y = ExtractOnnx(x, SpecOf(model, {1, 4, 5}, 40), model, pool_);

  for (Eigen::Index record = 0; record < 20; ++record) {
    for (int k = 0; k < 40; ++k) {
      const int row = k % 20 / 5;
      const int column = k % 5;
      float sum = 0;
      for (int i = std::max(0, row - 1); i <= std::min(3, row + 1); ++i) {
        for (int j = std::max(0, column - 1); j <= std::min(4, column + 1); ++j)
          sum += x(record, i * 5 + j) * kernels(k / 20, (i - row + 1) * 3 + j - column + 1);
      }
      ASSERT_NEAR(y(record, k), std::max(0.0F, sum), 1e-5) << record << ", " << k;
    }
  }
}

TEST_F(ExtractOnnxTest, RefusesAnotherModelThanTheJobs) {
  const auto model = WriteDense();
  auto spec = SpecOf(model, {6}, 3);
  spec.model_sha256[0] = spec.model_sha256[0] == '0' ? '1' : '0';
  EXPECT_THAT(
      ErrorText<DataError>([&] { (void)ExtractOnnx(Matrix::Zero(1, 6), spec, model, pool_); }),
      HasSubstr("dense.onnx: found SHA-256 " + FileSha256(model) + ", expected " + spec.model_sha256));
}

/// Waits until somebody who has read `file` closes it; a minute at most.
class ReadOnce {
 public:
  explicit ReadOnce(const std::filesystem::path& file) : events_(inotify_init1(IN_CLOEXEC)) {
    watched_ = inotify_add_watch(events_, file.c_str(), IN_CLOSE_NOWRITE) >= 0;
  }
  ~ReadOnce() { close(events_); }
  ReadOnce(const ReadOnce&) = delete;
  ReadOnce& operator=(const ReadOnce&) = delete;

  [[nodiscard]] bool Wait() const {
    pollfd event{.fd = events_, .events = POLLIN, .revents = 0};
    return watched_ && poll(&event, 1, 60'000) == 1;
  }

 private:
  int events_;
  bool watched_ = false;
};

TEST_F(ExtractOnnxTest, RunsTheModelThatWasHashedWhereItIsReplacedBehindThat) {
  const auto model = WriteDense();
  const auto spec = SpecOf(model, {6}, 3);
  const Matrix x = RandomMatrix(50, 6, 3);
  const Matrix expected = ExtractOnnx(x, spec, model, pool_);
  const ReadOnce reading(model);
  std::promise<void> held;
  bool replaced = false;
  // No record is worked on before the pool is free.
  auto busy = std::async(std::launch::async, [&] {
    pool_.ParallelFor(2, 1, [&](std::size_t begin, std::size_t) {
      if (begin > 0) return;
      held.set_value();
      replaced = reading.Wait();
      weights_ = RandomMatrix(3, 6, 9);
      (void)WriteDense();
    });
  });
  held.get_future().wait();
  const Matrix found = ExtractOnnx(x, spec, model, pool_);
  busy.get();
  EXPECT_TRUE(replaced);
  EXPECT_NE(FileSha256(model), spec.model_sha256);
  EXPECT_EQ(found, expected);
}

TEST_F(ExtractOnnxTest, NamesWhatIsWrongWithAModel) {
  const auto model = WriteDense();
  const auto broken = folder_.Put("broken.onnx", "hello");
  const auto empty = folder_.Put("empty.onnx", "");
  const auto error = [&](const std::filesystem::path& file, const std::vector<int>& input,
                         std::int64_t outputs) {
    const Eigen::Index columns = input[0];
    return ErrorText<DataError>(
        [&] { (void)ExtractOnnx(Matrix::Zero(1, columns), SpecOf(file, input, outputs), file, pool_); });
  };
  EXPECT_THAT(error(model, {6}, 4), HasSubstr("dense.onnx: found 3 outputs, expected 4 (features.outputs)"));
  EXPECT_THAT(error(model, {5}, 3),
              HasSubstr("dense.onnx: found a model that does not run on features.input"));
  EXPECT_THAT(error(broken, {6}, 3), HasSubstr("broken.onnx: found no ONNX model that can be read"));
  EXPECT_THAT(error(empty, {6}, 3), HasSubstr("empty.onnx: found no ONNX model that can be read"));
}

TEST_F(ExtractOnnxTest, RefusesAnOutputThatIsNotFinite) {
  weights_.setConstant(3e38F);
  const auto model = WriteDense();
  EXPECT_THAT(ErrorText<DataError>([&] {
                (void)ExtractOnnx(Matrix::Constant(1, 6, 100), SpecOf(model, {6}, 3), model, pool_);
              }),
              HasSubstr("record 1: found an output that is not finite"));
}

TEST(ExtractOnnx, NamesTheBuildOptionWhereItIsAbsent) {
  if (OnnxIsAvailable()) GTEST_SKIP() << "built with OpenCV";
  ThreadPool pool(1);
  EXPECT_THAT(ErrorText<ConfigError>([&] { (void)ExtractOnnx(Matrix(1, 1), {}, "x", pool); }),
              HasSubstr("-DTREFOIL_ONNX=ON"));
}

TEST(PutInOrderOf, PutsChannelsOneBehindTheOtherWhereTheInputHasThemSo) {
  Matrix rows(2, 12);
  rows << 1, 10, 100, 2, 20, 200, 3, 30, 300, 4, 40, 400,  // two rows of two pixels, of three channels each
      5, 50, 500, 6, 60, 600, 7, 70, 700, 8, 80, 800;
  Matrix expected(2, 12);
  expected << 1, 2, 3, 4, 10, 20, 30, 40, 100, 200, 300, 400,  //
      5, 6, 7, 8, 50, 60, 70, 80, 500, 600, 700, 800;
  const auto ordered = [&](const std::vector<int>& input, const ImageSize& image) {
    Matrix x = rows;
    PutInOrderOf({.input = input}, image, x);
    return x;
  };
  EXPECT_EQ(ordered({3, 2, 2}, {2, 2, 3}), expected);
  EXPECT_EQ(ordered({3, 1, 4}, {1, 4, 3}), expected);
  EXPECT_EQ(ordered({2, 2, 3}, {2, 2, 3}), rows);
  EXPECT_EQ(ordered({12}, {2, 2, 3}), rows);
  EXPECT_EQ(ordered({1, 3, 4}, {3, 4}), rows) << "grey";
  EXPECT_EQ(ordered({3, 2, 2}, {}), rows) << "an array is given as it is";
}

TEST(ValidateOnnx, RefusesWhatDoesNotFit) {
  const std::string hash(64, 'a');
  const auto text = [](const OnnxSpec& spec) {
    return ErrorText<ConfigError>([&] { ValidateOnnx(spec, 6); });
  };
  EXPECT_EQ(text({hash, {1, 2, 3}, 4}), "");
  EXPECT_EQ(text({"abc", {6}, 4}),
            "features.model_sha256: found \"abc\", expected 64 lower-case hexadecimal digits");
  EXPECT_THAT(text({std::string(64, 'A'), {6}, 4}), HasSubstr("features.model_sha256"));
  EXPECT_EQ(
      text({hash, {2, 2}, 4}),
      "features.input: found 2 lengths of product 4, expected one to four of product 6 (data.features)");
  EXPECT_THAT(text({hash, {}, 4}), HasSubstr("features.input"));
  EXPECT_THAT(text({hash, {-2, -3}, 4}), HasSubstr("features.input"));
  EXPECT_EQ(text({hash, {6}, 0}), "features.outputs: found 0, expected 1 to 1000000");
}

}  // namespace
}  // namespace trefoil::data
