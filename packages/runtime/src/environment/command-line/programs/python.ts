import type { ProgramEntry, ProgramForm } from "./program-entry.ts";

const installed: ProgramForm = {
  flags: `-q -U -v
    --break-system-packages --disable-pip-version-check --dry-run --force-reinstall --no-cache-dir --no-color --no-deps --no-input
    --no-warn-script-location --pre --quiet --upgrade --user --verbose`,
  values: { read: "-c -r --constraint --requirement" },
  operands: "package...",
};
const told: ProgramForm = {
  unasked: true,
  flags: "-f -l --disable-pip-version-check --files --local --no-color --user --verbose",
  operands: "plain...",
};
const synced: ProgramForm = {
  flags: "-q -U -v --all-extras --all-groups --check --dev --frozen --locked --no-dev --no-sync --offline --quiet --upgrade --verbose",
  values: { plain: "--extra --group --no-group" },
  operands: "package...",
  here: { kind: "write" },
};

/**
 * The interpreter of Python, its test runner and its package managers. `-c` and the input are code; `-p`, `-c` and `-o` of pytest load code or
 * settings. `pytest --version` loads the plugins that the folder names.
 */
export const pythonTools: readonly ProgramEntry[] = [
  {
    names: "python pypy",
    versions: true,
    runsInput: true,
    flags: "-B -E -I -O -OO -q -s -S -u -v -b -bb -Wall -Walways -Wdefault -Werror -Wignore -Wonce",
    values: { module: "-m" },
    operands: "script plain...",
    stops: true,
    alone: "--help --version -h -V -VV",
  },
  {
    names: "pytest py.test",
    flags: `-l -q -s -v -x
      --co --collect-only --disable-warnings --exitfirst --failed-first --ff --fixtures --last-failed --lf --markers --new-first --nf
      --no-cov --no-header --no-summary --quiet --runxfail --setup-show --showlocals --stepwise --strict-config --strict-markers --sw --verbose`,
    values: {
      plain: `-k -m -n -r --capture --color --deselect --durations --import-mode --log-cli-level --tb --dist`,
      number: "--cov-fail-under --maxfail --reruns --timeout",
      look: "--ignore",
      write: "--junit-xml --junitxml",
    },
    optional: { plain: "--cov" },
    operands: "plain...",
  },
  {
    names: "pip",
    versions: true,
    subcommands: {
      "install": installed,
      "uninstall": { flags: "-q -y --quiet --yes --no-input", values: { read: "-r --requirement" }, operands: "package..." },
      "list": { ...told, flags: `${told.flags ?? ""} --not-required`, values: { plain: "--format" }, operands: "" },
      "show": told,
      "freeze check": { flags: "-l --all --local --user" },
      "download wheel": { ...installed, here: { kind: "write" } },
    },
    alone: "--help --version -V",
  },
  {
    names: "uv",
    subcommands: {
      "sync lock tree": synced,
      "add remove": synced,
      "venv": { flags: "-q --clear --seed", values: { plain: "-p --python" }, operands: "write", here: { kind: "write" } },
      "pip": {
        subcommands: {
          "install": installed,
          "uninstall": installed,
          "list freeze": { flags: "-q --quiet", values: { plain: "--format" } },
          "show": { operands: "plain..." },
        },
      },
      "run": {
        flags:
          "-q -v --all-extras --all-groups --dev --frozen --isolated --locked --no-dev --no-project --no-sync --offline --quiet --verbose",
        values: { package: "--with", plain: "-p --extra --group --package --python", module: "-m --module" },
        operands: "command",
      },
    },
    alone: "--help --version -V",
  },
  {
    names: "poetry pdm hatch",
    subcommands: {
      "install sync lock update": {
        flags: "-n -q -v --all-extras --dry-run --no-interaction --no-root --quiet --sync",
        values: { plain: "-E --extras --only --with --without" },
      },
      "add remove": { flags: "-D -n --dev --no-interaction", values: { plain: "-G --group" }, operands: "package..." },
      "run": { operands: "command" },
      "show": { flags: "--no-interaction --tree", operands: "plain..." },
    },
  },
  {
    names: "ruff black isort mypy pyright flake8 pylint",
    flags:
      "-q -v --check --diff --fix --no-cache --no-color --no-fix --no-incremental --quiet --show-error-codes --strict --unsafe-fixes --verbose --watch",
    values: { number: "-l --line-length", plain: "--exclude --ignore --python-version --select" },
    operands: "write...",
    here: { kind: "write" },
    subcommands: {
      check: {
        flags: "-q -v --diff --fix --no-cache --no-fix --preview --quiet --show-files --statistics --unsafe-fixes --verbose --watch",
        values: { plain: "--exclude --extend-select --ignore --output-format --select", number: "--line-length" },
        operands: "write...",
        here: { kind: "write" },
      },
      format: {
        flags: "-q -v --check --diff --no-cache --quiet",
        values: { number: "--line-length" },
        operands: "write...",
        here: { kind: "write" },
      },
    },
  },
];
