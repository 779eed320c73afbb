# The image trefoil-mpi of party-ranks.yaml: trefoil with Open MPI, and an SSH server that runs without root, by which mpirun
# starts the other ranks. Not tried on a cluster yet. Build, in the folder of the repository:
#   docker build -f deploy/kubernetes/ranks.Dockerfile -t trefoil-mpi .
FROM debian:bookworm
WORKDIR /src
COPY scripts/setup scripts/setup
RUN scripts/setup --mpi --images && apt-get install -y -q --no-install-recommends openssh-client openssh-server && \
    rm -rf /var/lib/apt/lists/* /etc/ssh/ssh_host_*
COPY . .
RUN cmake --preset release -DTREFOIL_TESTS=OFF -DTREFOIL_MPI=ON -DTREFOIL_IMAGES=ON && cmake --build --preset release --target trefoil && \
    strip build/bin/trefoil && install build/bin/trefoil /usr/local/bin/trefoil && rm -rf /src/*
# ssh goes by the home folder, the shell and the group that /etc/passwd has, and fails where it runs in another group.
# The operator mounts one key for all pods of the job in ~/.ssh; it serves as every pod's host key, too, so that known
# hosts are those that have it.
RUN groupadd --gid 10001 trefoil && useradd --uid 10001 --gid 10001 --create-home --shell /bin/sh trefoil && \
    printf '%s\n' 'Port 2222' 'HostKey /home/trefoil/.ssh/id_rsa' 'PidFile none' 'StrictModes no' 'UsePAM no' \
      'PasswordAuthentication no' >/home/trefoil/.sshd_config && \
    printf '%s\n' '#!/bin/sh' "printf '* '; exec cat /home/trefoil/.ssh/id_rsa.pub" >/usr/local/bin/ranks-known-hosts && \
    chmod 755 /usr/local/bin/ranks-known-hosts && \
    printf '%s\n' 'Port 2222' 'StrictHostKeyChecking yes' 'KnownHostsCommand /usr/local/bin/ranks-known-hosts' \
      >/etc/ssh/ssh_config.d/trefoil.conf && \
    trefoil --version
WORKDIR /home/trefoil
USER trefoil
