"""Folders of images, which `files` names: PNG files that the test makes. Skipped where the build reads no images."""

import struct
import zlib

import numpy as np
import pytest
from conftest import toy_keys
from test_party import run_three

import trefoil
from trefoil import _program

CLASSES = ("red", "green", "blue")
SIZE = 8


def png(pixels):
    """Of rows of pixels of three bytes."""

    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def images(seed, rows=30):
    """A square of the class's colour on black: image k is of class k mod 3."""
    draw = np.random.default_rng(seed)
    X = np.zeros((rows, SIZE, SIZE, 3), dtype=np.uint8)
    for k, image in enumerate(X):
        top, left = draw.integers(0, SIZE - 3, 2)
        image[top : top + 4, left : left + 4, k % 3] = draw.integers(200, 256)
    return X


def score(model):
    """The share of new images that the model knows; it takes no arrays, as its job's records are files."""
    X = images(9, 60)
    logits = X.reshape(60, -1) / 255.0 @ model.coef_.T + model.intercept_
    return np.mean(logits.argmax(axis=1) == np.arange(60) % 3)


@pytest.fixture
def job():
    keys = toy_keys(expected_batch=45, max_batch_per_owner=30, steps=30, learning_rate=4.0)
    features = 3 * SIZE * SIZE
    keys["data"] = {"name": "toy", "format": "images", "rows": [30, 30, 30], "features": features, "classes": 3}
    keys["data"] |= {"label": {"values": list(CLASSES)}, "scale": 255.0}
    keys["features"] = {"image": [SIZE, SIZE, 3], "row_norm": 4.0}
    keys["privacy"] = {"sigma": 0.05, "delta": 1e-5, "clip": 1.0}
    return trefoil.Job.from_dict(keys)


@pytest.fixture
def folders(tmp_path, job):
    """One of each party, in the order of the parties."""
    folders = [tmp_path / f"images-{party}" for party in range(3)]
    for seed, folder in enumerate(folders):
        for k, image in enumerate(images(seed)):
            (folder / CLASSES[k % 3]).mkdir(parents=True, exist_ok=True)
            (folder / CLASSES[k % 3] / f"{k:02}.png").write_bytes(png(image))
    try:
        trefoil.simulate(job, named(folders))
    except trefoil.ConfigError as error:
        if "TREFOIL_IMAGES" not in str(error):
            raise
        pytest.skip("built without images (TREFOIL_IMAGES)")
    return folders


def named(folders):
    return [{"data.file": folder} for folder in folders]


@pytest.mark.parametrize("processes", [False, True])
def test_are_trained_on(job, folders, processes):
    if processes and not _program.PROGRAM.exists():
        pytest.skip("the program is not built with the package")
    result = trefoil.simulate(job, named(folders), processes=processes)
    assert score(result.model) > 0.9
    with pytest.raises(trefoil.ConfigError, match='found arrays, expected files, as data.format is "images"'):
        result.model.predict(images(9).reshape(30, -1))


def test_are_brought_to_a_run_and_told_to_a_ledger(job, folders, party_files, tmp_path):
    with party_files[1].open("a") as file:
        file.write('\n[ledger]\nfile = "ledger.jsonl"\nepsilon_cap = 1e9\ndelta = 1e-4\npopulation = "toys"\n')
    told = trefoil.Party(party_files[1]).declare(job, files={"data.file": folders[1]})
    assert told.startswith("30 different records, 30 of them new to population"), told
    results = run_three(party_files, lambda i, party: party.run(job, files=named(folders)[i], out=tmp_path / f"out-{i}", threads=1))
    assert all(isinstance(result, trefoil.Result) for result in results), results
    assert all(score(result.model) > 0.9 for result in results)
    shown = trefoil.accounting.of_ledger(party_files[1].parent / "ledger.jsonl")
    assert len(shown["jobs"]) == len(shown["population"]["data"]) == 1


def test_say_which_image_is_none(job, folders):
    (folders[2] / "green" / "01.png").write_bytes(b"no image")
    with pytest.raises(trefoil.DataError, match="images-2/green/01.png"):
        trefoil.simulate(job, named(folders))
    with pytest.raises(trefoil.ConfigError, match='found arrays, expected files, as data.format is "images"'):
        trefoil.simulate(job, [(np.zeros((30, 192)), np.zeros(30))] * 3)
