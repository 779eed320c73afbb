# The program trefoil on Debian 12. Build: docker build -t trefoil .   (or podman build --network=host -t trefoil .)
FROM debian:bookworm AS build
WORKDIR /src
# The packages come first and alone, so that a change of the sources does not install them again.
COPY scripts/setup scripts/setup
RUN scripts/setup --images && rm -rf /var/lib/apt/lists/*
COPY . .
RUN cmake --preset release -DTREFOIL_TESTS=OFF -DTREFOIL_IMAGES=ON && cmake --build --preset release --target trefoil && strip build/bin/trefoil

FROM debian:bookworm
COPY --from=build /src/build/bin/trefoil /usr/local/bin/trefoil
COPY deploy/compose/health /usr/local/bin/trefoil-health
COPY deploy/compose/prepare /usr/local/bin/trefoil-prepare
COPY deploy/compose/when-deposited /usr/local/bin/trefoil-when-deposited
COPY deploy/compose/when-ready /usr/local/bin/trefoil-when-ready
# Run-time libraries only; that they are all here is seen by starting the program once.
RUN apt-get update -q && \
    apt-get install -y -q --no-install-recommends \
        libfftw3-double3 libfftw3-single3 libfmt9 libhwy1 libpng16-16 libsodium23 libspdlog1.10 libsqlite3-0 libssl3 libstdc++6 \
        libturbojpeg0 libzip4 zlib1g && \
    rm -rf /var/lib/apt/lists/* && \
    useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin trefoil && \
    trefoil --version
USER trefoil
# For a party file with [metrics] listen = "127.0.0.1:9100"; the compose file asks the same.
HEALTHCHECK --interval=10s --timeout=10s CMD ["trefoil-health"]
ENTRYPOINT ["trefoil"]
