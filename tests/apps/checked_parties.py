"""Parties whose files are made wrong, one thing at a time, for `trefoil check` to find."""

import re
import shutil

# What every failed line ends with, somewhere: something to be done.
MENDS = re.compile(r": (check this|make|run chmod|store it|store each|correct|exchange|start check|install|agree on|set them|more memory|remove|end what|"
                   r"bring back|spend less|name (the|its|this party.s))\b|not tried: first mend |write x and y|did you mean|: make it$")


class CheckedParties:
    """With a ProgramTest, which makes the folder `good` of three parties and the job file `self.job`."""

    def deploy(self):
        """The three folders as they were made."""
        shutil.rmtree(self.folder / "d", ignore_errors=True)
        shutil.copytree(self.folder / "good", self.folder / "d")

    def path(self, name, party=0):
        return self.folder / f"d/party-{party}" / name

    def edit(self, name, pattern, replacement, party=0):
        text, count = re.subn(pattern, replacement, self.path(name, party).read_text())
        self.assertEqual(count, 1, pattern)
        self.path(name, party).write_text(text)

    def append(self, name, text, party=0):
        self.path(name, party).write_text(self.path(name, party).read_text() + text)

    def edited_job(self, pattern, replacement):
        """The job with this change, as another file."""
        text, count = re.subn(pattern, replacement, self.job.read_text())
        self.assertEqual(count, 1, pattern)
        return self.write("other.toml", text)

    def check(self, party=0, job=None, wait="50ms"):
        return self.run_program("check", "--config", f"d/party-{party}/party.toml", "--job", job or self.job, "--wait", wait)

    def expect(self, code, line, job=None):
        """This party's check, the others being down: one line says what is wrong, and how to mend it; the code is that of the first."""
        result = self.check(job=job)
        self.assertRegex(result.stdout, "(?m)^fail  " + line)
        for failed in re.findall("(?m)^fail  .*$", result.stdout):
            self.assertRegex(failed, MENDS)
        self.assertEqual(result.returncode, code, result.stdout)
        self.assert_one_error_line(result.stderr, "check failed: ")
        return result.stdout
