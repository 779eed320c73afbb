"""The units in deploy/: what they try again is what may pass by itself, and each try may cost budget."""

import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

from trefoil_program import PROJECT

NEEDS_A_PERSON = {1, 2, 4, 5}
TOLD_TO_STOP = {129, 130, 143}


class Deploy(unittest.TestCase):
    def read(self, name):
        return (PROJECT / name).read_text()

    def codes(self, pattern, name):
        return set(map(int, re.findall(r"\d+", re.search(pattern, self.read(name)).group(1))))

    def test_units_retry_what_may_pass_only(self):
        self.assertEqual(self.codes(r"(?m)^RestartPreventExitStatus=(.*)$", "deploy/systemd/trefoil@.service"), NEEDS_A_PERSON)
        manifest = "deploy/kubernetes/party.yaml"
        self.assertEqual(self.codes(r"action: FailJob\n\s+onExitCodes:\n.*\n.*\n\s+values: \[(.*)\]", manifest), NEEDS_A_PERSON)
        self.assertIn("type: DisruptionTarget", self.read(manifest))  # told to stop by the cluster
        self.assertNotIn("--again", self.read(manifest) + self.read("deploy/systemd/trefoil@.service") + self.read("docker-compose.yml"))

    def test_who_is_told_to_stop_needs_no_person(self):
        """As by a probe's kill; a service that is stopped by hand stays so. The codes are 128 + SIGHUP, SIGINT and SIGTERM."""
        self.assertEqual(self.codes(r"(?m)^SuccessExitStatus=(.*)$", "deploy/systemd/trefoil@.service"), TOLD_TO_STOP)
        self.assertTrue(TOLD_TO_STOP.isdisjoint(NEEDS_A_PERSON))
        for name, key in (("deploy/kubernetes/party.yaml", "terminationGracePeriodSeconds: 90"), ("docker-compose.yml", "stop_grace_period: 90s")):
            self.assertRegex(self.read(name), rf"\n +{key}\n")

    def test_parties_of_many_machines_retry_no_more(self):
        """An MPIJob knows no exit codes, so it tries nothing again; the Slurm file tries what may pass, and stops for all else."""
        batch = self.read("deploy/slurm/party.sbatch")
        retried = self.codes(r"case \$code in\n +(.*)\) ;;", "deploy/slurm/party.sbatch")
        self.assertEqual(retried, {3, 6, 137, 205})
        self.assertIn('    *) exit "$code" ;;', batch)
        self.assertTrue(retried.isdisjoint(NEEDS_A_PERSON | TOLD_TO_STOP))
        manifest = self.read("deploy/kubernetes/party-ranks.yaml")
        self.assertIn("\n    backoffLimit: 0\n", manifest)
        self.assertRegex(manifest, r"fsGroup: 10001\n\s+fsGroupChangePolicy: OnRootMismatch")
        for text in (batch, manifest):
            self.assertRegex(text, r"odls_base_sigkill_timeout\W+3\b")  # each failure takes four times as long
            self.assertRegex(text, r'--mca,? btl_tcp_if_include,? \S+ --mca,? oob_tcp_if_include,? ')
            self.assertNotIn("--again", text)
            self.assertRegex(text, r"# A job that has no checkpoints \(training\.checkpoint_every; .*\) is refused with --resume:")

    def test_the_pods_of_many_machines_have_the_user_and_group_of_their_image(self):
        """ssh takes the group of /etc/passwd, which a pod that runs in another one may not."""
        user = re.search(r"groupadd --gid (\d+) trefoil && useradd --uid (\d+) --gid (\d+) ",
                         self.read("deploy/kubernetes/ranks.Dockerfile"))
        pods = re.search(r"runAsUser: (\d+)\n +runAsGroup: (\d+)\n", self.read("deploy/kubernetes/party-ranks.yaml"))
        self.assertIsNotNone(user)
        self.assertEqual(user.groups(), (pods[2], pods[1], pods[2]))

    def test_the_slurm_file_tries_again_until_a_code_needs_a_person(self):
        """With an mpirun that ends with one code after the other, and a sleep that does not."""
        for codes, tries in (([3, 6, 137, 205, 0], 5), ([3, 5, 0], 2), ([2, 0], 1)):
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder)
                (path / "codes").write_text("".join(f"{code}\n" for code in codes))
                party = self.start_slurm_file(path, 'echo "$@" >>calls; exit "$(sed -n "$(wc -l <calls)p" codes)"')
                self.assertEqual(party.wait(timeout=60), codes[tries - 1], (path / "trefoil-7.log").read_text())
                calls = (path / "calls").read_text().splitlines()
                self.assertEqual(len(calls), tries)
                self.assertRegex(calls[0], r"^-q -np 4 .* btl_tcp_if_include 10.1.0.0/16 .* trefoil run .* --resume --threads 16$")
                self.assertEqual((path / "trefoil-7.log").stat().st_mode & 0o777, 0o600)
                said = re.findall(r"(?m)^mpirun has ended with code (\d+)$", (path / "trefoil-7.log").read_text())
                self.assertEqual(said, [str(code) for code in codes[:tries]])

    def test_the_slurm_file_tries_once_what_cannot_be_resumed(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            party = self.start_slurm_file(path, 'echo "$@" >>calls; exit 3', {"TREFOIL_RESUME": ""})
            self.assertEqual(party.wait(timeout=60), 3)
            self.assertRegex((path / "calls").read_text(), r"\A.* --out runs/first --threads 16\n\Z")
        self.assertIn("`TREFOIL_RESUME= sbatch --no-requeue ...`", (PROJECT / "deploy/slurm/party.sbatch").read_text())

    def start_slurm_file(self, path, mpirun, more=()):
        for name, text in (("mpirun", mpirun), ("scontrol", "echo node0"), ("sleep", ":")):
            (path / name).write_text(f"#!/bin/sh\n{text}\n")
            (path / name).chmod(0o755)
        slurm = {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "node[0-3]", "SLURM_NNODES": "4", "SLURM_CPUS_PER_TASK": "16",
                 "TREFOIL_NETWORK": "10.1.0.0/16", "PATH": f"{path}:{os.environ['PATH']}", **dict(more)}
        return subprocess.Popen(["sh", PROJECT / "deploy/slurm/party.sbatch"], cwd=path, env={**os.environ, **slurm})

    def check_a_stop_of_the_slurm_file(self, mpirun, ends):
        """Whatever mpirun ends with then, here 9, the code is that of a stop."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            (path / "trefoil").write_text("#!/bin/sh\ntrap 'echo rank 0 >>ends; exit' TERM\n"
                                          "echo >ready; while true; do /bin/sleep 0.05; done\n")
            (path / "trefoil").chmod(0o755)
            party = self.start_slurm_file(path, f"trap 'echo mpirun >>ends; exit 9' TERM; {mpirun}")
            deadline = time.monotonic() + 60
            while not (path / "ready").exists():
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.02)
            party.send_signal(signal.SIGTERM)
            self.assertEqual(party.wait(timeout=60), 143)
            self.assertEqual((path / "ends").read_text(), ends)

    def test_the_slurm_file_stops_rank_0_and_waits_for_the_party(self):
        """Not mpirun, which would end a step after its time-out."""
        self.check_a_stop_of_the_slurm_file("trefoil; /bin/sleep 0.2; echo the party >>ends; exit 9", "rank 0\nthe party\n")

    def test_the_slurm_file_stops_an_mpirun_that_has_no_rank_yet(self):
        self.check_a_stop_of_the_slurm_file("echo >ready; while true; do /bin/sleep 0.05; done", "mpirun\n")

    def test_kubernetes_leaves_modes_alone(self):
        self.assertRegex(self.read("deploy/kubernetes/party.yaml"), r"fsGroup: 10001\n(\s+#.*\n)*\s+fsGroupChangePolicy: OnRootMismatch")

    def compose_services(self):
        """Each service of docker-compose.yml: its text, and that of what it merges, the nearest first. By hand, since the tests need no
        package for YAML."""
        text = self.read("docker-compose.yml")
        section = text.split("\nservices:\n")[1].split("\nvolumes:\n")[0]
        services = re.findall(r"(?m)^  ([\w-]+):(?: &([\w-]+))?\n((?:    .*\n|\n)+)", section)
        anchors = dict(re.findall(r"(?m)^x-[\w-]+: &([\w-]+)\n((?:  .*\n)+)", text)) | {anchor: block for _, anchor, block in services}

        def merged(block):
            base = re.search(r"(?m)^ {2,4}<<: \*([\w-]+)$", block)
            return [block] + (merged(anchors[base.group(1)]) if base else [])

        return {name: merged(block) for name, _, block in services}

    def test_compose_starts_owners_by_their_profile_only(self):
        services = self.compose_services()
        alone = [name for name, blocks in services.items() if not any("profiles: [owners]" in block for block in blocks)]
        self.assertEqual(alone, ["prepare", "party-0", "party-1", "party-2"])
        self.assertLessEqual({"owner", *(f"{kind}-{i}" for kind in ("deposits", "inbox") for i in range(3))}, set(services))
        for name in ("docker-compose.yml", "docs/howto/operations.md", "README.md", "scripts/acceptance.d/run_containers.sh"):
            self.assertTrue(re.search(rf"podman-compose (-p \S+ )?up {' '.join(alone)}\b", self.read(name)), name)
        hosts = re.findall(r"(?m)^ +TREFOIL_(?:HOSTS|INBOXES): (.*)$", self.read("docker-compose.yml"))
        self.assertEqual(len(hosts), 2)
        for host in ",".join(hosts).split(","):
            self.assertIn(host.split(":")[0], list(services))

    def test_compose_confines_every_container(self):
        for name, blocks in self.compose_services().items():
            for key, value in (("read_only", "true"), ("cap_drop", "[ALL]"), ("security_opt", '["no-new-privileges"]')):
                found = re.findall(rf"(?m)^ +{key}: (.*)$", "".join(blocks))
                self.assertEqual(found, [value], f"{name}: {key}")

    def test_compose_mounts_nothing_that_is_made_on_the_host(self):
        text = self.read("docker-compose.yml")
        self.assertEqual(set(re.findall(r"- (\./[^:]*):", text)), {"./configs"})
        self.assertRegex(text, r"memlock:\n\s+soft: \$\{TREFOIL_MEMLOCK:--1\}\n\s+hard: \$\{TREFOIL_MEMLOCK:--1\}")
        for place in re.findall(r"COPY (deploy/\S+)", self.read("Dockerfile")):
            self.assertTrue((PROJECT / place).stat().st_mode & 0o100, place)


if __name__ == "__main__":
    unittest.main()
