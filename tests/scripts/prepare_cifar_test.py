"""What scripts/prepare_cifar makes of images in folders. Usage: prepare_cifar_test.py; needs Pillow."""
import importlib.util
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "prepare_cifar"
CLASSES = "airplane automobile bird cat deer dog frog horse ship truck".split()


@unittest.skipUnless(importlib.util.find_spec("PIL"), "no Pillow: apt-get install python3-pil")
class PrepareCifar(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for label, name in enumerate(CLASSES):
            for part, count in (("train", 2), ("test", 1)):
                for k in range(count):
                    self.image(f"source/{part}/{name}/{k}.png", (10 * label, 20 * k, 7))

    def image(self, path, colour, size=(32, 32)):
        """All of one colour, but for a black pixel at the right of the first row."""
        from PIL import Image
        path = self.folder / path
        path.parent.mkdir(parents=True, exist_ok=True)
        image = Image.new("RGB", size, colour)
        image.putpixel((size[0] - 1, 0), (0, 0, 0))
        image.save(path)

    def run_script(self, source):
        return subprocess.run([sys.executable, "-B", SCRIPT, self.folder / source, self.folder / "out"], capture_output=True,
                              text=True, check=False)

    def test_writes_the_classes_in_turn_from_folders_and_archives(self):
        expected = b"".join(bytes([label]) + b"".join(bytes([value]) * 31 + b"\0" + bytes([value]) * 992 for value in (10 * label, 20 * k, 7))
                            for k in range(2) for label in range(10))
        with tarfile.open(self.folder / "all.tar.xz", "w:xz") as archive:
            archive.add(self.folder / "source", arcname=".")
        for source in ("source", "all.tar.xz"):
            result = self.run_script(source)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual((self.folder / "out/train.bin").read_bytes(), expected)
            self.assertEqual((self.folder / "out/test.bin").read_bytes(), expected[: 10 * 3073])

    def test_refuses_other_sizes_and_classes(self):
        for path, size, text in (("train/cat/x.png", (32, 31), "train/cat/x.png: found 32 x 31 pixels, expected 32 x 32"),
                                 ("train/fish/x.png", (32, 32), "train/fish/x.png: found no class of CIFAR-10")):
            self.image(f"source/{path}", (1, 2, 3), size)
            result = self.run_script("source")
            self.assertEqual(result.returncode, 1)
            self.assertIn(text, result.stderr)
            (self.folder / "source" / path).unlink()
        for file in (self.folder / "source/test/dog").iterdir():
            file.unlink()
        self.assertIn("test.bin: found no images of dog", self.run_script("source").stderr)


if __name__ == "__main__":
    unittest.main()
