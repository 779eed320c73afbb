"""What scripts/check_reveals.py finds. Usage: check_reveals_test.py"""
import importlib.util
import pathlib
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check_reveals.py"
spec = importlib.util.spec_from_file_location("check_reveals", SCRIPT)
check_reveals = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_reveals)
FILE = "ml/dpsgd/training.cpp"


def found_in(text, name=FILE):
    """What is said of one file, less that the other files' entries have no use."""
    found = check_reveals.check_reveals([(name, text)], check_reveals.REVEAL_HEADER)
    return [line for line in found if not line.startswith("scripts/")]


class CheckReveals(unittest.TestCase):
    def test_takes_a_listed_reason_over_several_lines(self):
        self.assertEqual(found_in("x = protocols::RevealToEach(party, To(a, (b)),\n  y,\n  protocols::ReleaseReason::kTrainedModel);"), [])

    def test_refuses_a_call_without_a_reason(self):
        for call in ("Reveal(party, x)", "RevealTo(party, 0, x, reason)", "RevealBits(party, Bits(ReleaseReason::kTrainedModel))", "HandOut(x)"):
            self.assertRegex(found_in(f"\n{call};")[0], rf"^{FILE}:2: found (Reveal\w*|HandOut) without a ReleaseReason")

    def test_takes_the_declaration_of_the_librarys_own(self):
        self.assertEqual(found_in("Matrix Reveal(Session& session, const Share& x, const std::string& reason);"), [])

    def test_refuses_a_function_that_is_handed_on(self):
        self.assertEqual(len(found_in("Open(party, protocols::Reveal);")), 1)

    def test_refuses_a_reason_that_the_file_may_not_state(self):
        for name, reason in ((FILE, "kNoisyCounts"), (FILE, "kTest"), ("apps/x.cpp", "kTrainedModel")):
            self.assertRegex(found_in(f"Reveal(party, x, ReleaseReason::{reason});", name)[0], f"^{name}:1: reveals for {reason}")

    def test_refuses_entries_and_reasons_without_a_call(self):
        found = list(check_reveals.check_reveals([], check_reveals.REVEAL_HEADER))
        self.assertEqual(len(found), len(check_reveals.REVEALS))
        self.assertRegex("".join(check_reveals.check_reasons("enum {\n  kNew,\n  kTest,\n")), "kNew is a reason that no file states")

    def test_finds_openings_and_messages_that_are_not_listed(self):
        found = list(check_reveals.check_doors([("runtime/new.cpp", "party.SendWords(1, x);\nopening.BeginOpen(x, 0, mask);")]))
        self.assertTrue(found[0].startswith("runtime/new.cpp:1: send that is not on the list"))
        self.assertTrue(found[1].startswith("runtime/new.cpp:2: masked opening that is not on the list"))


if __name__ == "__main__":
    unittest.main()
