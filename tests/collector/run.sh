#!/usr/bin/env bash
# Builds a Collector with the official builder, validates both configurations, and sends spans through it and `serve`, both killed.
#
#     bash tests/collector/run.sh [FOLDER]
#
# FOLDER keeps the Collector for the next time. OTELCOL names one that is there already, PYTHON another interpreter than .venv's,
# GO another Go (1.26 or later). Without Go there is nothing to do.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
root="$(cd "$here/../.." && pwd)"
cd "$root"

python="${PYTHON:-$root/.venv/bin/python}"
if [[ ! -x "$(command -v "$python")" ]]; then
  echo "collector: there is no $python; run 'make setup', or set PYTHON" >&2
  exit 2
fi

if [[ -z "${OTELCOL:-}" ]]; then
  go="${GO:-$(command -v go || true)}"
  if [[ -z "$go" && -x /usr/local/go/bin/go ]]; then go=/usr/local/go/bin/go; fi
  if [[ -z "$go" ]]; then
    echo "collector: skipped, there is no Go to build a Collector with; set OTELCOL to a Collector with the contrib components"
    exit 0
  fi
  cache="${1:-${XDG_CACHE_HOME:-$HOME/.cache}/otel_processor/otelcol}"
  mkdir -p "$cache"
  cache="$(cd "$cache" && pwd)"
  OTELCOL="$cache/build/otelcol"
  if [[ ! -x "$OTELCOL" ]] || ! cmp -s "$here/manifest.yaml" "$cache/built-from.yaml"; then
    release="$(sed -n 's/^  version: //p' "$here/manifest.yaml")"
    export GOFLAGS=-mod=mod PATH="$(dirname "$go"):$PATH" GIT_TERMINAL_PROMPT=0
    echo "collector: building $release in $cache; this takes some minutes"
    rm -rf "$cache/build" "$cache/built-from.yaml" "$cache/no_cloud_map"
    cp -r "$here/no_cloud_map" "$cache/no_cloud_map"
    (cd "$cache" && GOBIN="$cache" go install "go.opentelemetry.io/collector/cmd/builder@v$release" 2>"$cache/builder.log") ||
      { cat "$cache/builder.log" >&2; exit 1; }
    (cd "$cache" && ./builder --config "$here/manifest.yaml" >"$cache/build.log" 2>&1) ||
      { tail -n 40 "$cache/build.log" >&2; exit 1; }
    cp "$here/manifest.yaml" "$cache/built-from.yaml"
  fi
fi

"$OTELCOL" --version
"$OTELCOL" validate --config collector-config.yaml
echo "collector: collector-config.yaml is valid"
# One that is brought along may be without.
components="$("$OTELCOL" components 2>/dev/null)"
if [[ "$components" == *"name: load_balancing"* ]]; then
  "$OTELCOL" validate --config collector-config.yaml --config collector-config.many.yaml
  echo "collector: collector-config.many.yaml is valid"
else
  echo "collector: collector-config.many.yaml is not validated, this Collector has no load_balancing"
fi

OTELCOL="$OTELCOL" PYTHONPATH="$root" "$python" -m pytest -q -p no:cacheprovider tests/collector
