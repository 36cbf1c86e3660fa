import type { ProgramEntry, ProgramForm } from "./program-entry.ts";

/**
 * Options that scripts of packages may get without running another file: those of common test runners, checkers and bundlers. The program of
 * a script is not known, so that a value is only listed in full.
 */
export const SCRIPT_FLAGS = `-t -u -v --all --bail --bail=1 --check --ci --color --coverage --fix --forceExit --grep --help --minify --no-cache --no-color
  --no-coverage --no-watch --passWithNoTests --port --pretty --quiet --reporter=default --reporter=dot --reporter=json --reporter=verbose --run
  --runInBand --silent --testNamePattern --update --verbose --version --watch --watch=false --watchAll=false`;

/**
 * npm, pnpm, yarn and bun obey files of the folder that name registries, shells and versions of themselves, and look for newer versions, so only
 * the version of npm, npx and bun is printed unasked. Missing are options that name a shell, a file of settings, options of node, or a registry.
 */
const FLAGS = `-a -ddd -dd -d -D -E -f -iwr -P -q -s -S -ws -y
  --all --dry-run --force --foreground-scripts --frozen-lockfile --if-present --ignore-scripts --include-workspace-root --json --legacy-peer-deps
  --long --no-audit --no-color --no-fund --no-package-lock --no-progress --no-save --offline --package-lock-only --parseable --prefer-offline
  --production --quiet --save --save-dev --save-exact --save-optional --save-peer --save-prod --silent --verbose --workspaces --yes`;
const VALUES = { plain: "--include --loglevel --omit", workspace: "-w --workspace", folder: "-C --prefix", number: "--depth" } as const;

const common: ProgramForm = { flags: FLAGS, values: VALUES };
const script: ProgramForm = { ...common, operands: "argument...", rest: "argument...", restFlags: SCRIPT_FLAGS };
const packages: ProgramForm = { ...common, operands: "package...", here: { kind: "write" } };
const starts: ProgramForm = {
  flags: "-q -y --no --no-install --quiet --yes",
  values: { package: "-p --package", workspace: "-w --workspace", shell: "-c --call" },
  operands: "command",
};

// pnpm and yarn hand all words after the name of a script to it.
const handedOn: ProgramForm = {
  flags: `${SCRIPT_FLAGS} -r -s -w --if-present --no-bail --parallel --recursive --stream --workspace-root`,
  values: { plain: "-F --filter" },
  operands: "argument...",
  rest: "argument...",
  restFlags: SCRIPT_FLAGS,
};
const added: ProgramForm = {
  flags: `-D -E -O -P -r -w
    --dev --exact --force --frozen-lockfile --ignore-scripts --immutable --lockfile-only --no-frozen-lockfile --offline --prefer-offline --prod
    --production --recursive --save-dev --save-exact --silent --workspace-root`,
  values: { plain: "-F --filter" },
  operands: "package...",
  here: { kind: "write" },
};

export const packageManagers: readonly ProgramEntry[] = [
  {
    names: "npm",
    ...common,
    alone: "--version -v",
    subcommands: {
      "test t tst start stop restart run run-script rum urn": script,
      "install i in ins add ci clean-install ic install-clean uninstall un remove rm r update up upgrade dedupe ddp prune": packages,
      "install-test it install-ci-test cit": packages,
      "ls list la ll explain why outdated audit fund": { ...common, operands: "package..." },
      "view info show v": { ...common, operands: "package plain..." },
      "pack": { ...common, here: { kind: "read" } },
      "publish": {
        flags: FLAGS,
        values: { ...VALUES, plain: `${VALUES.plain} --access --tag`, number: "--otp" },
        here: { kind: "read" },
      },
      "version": { ...common, flags: `${FLAGS} --no-git-tag-version`, operands: "plain", here: { kind: "write" } },
      "exec x": starts,
      "init create": { flags: "-y --yes", here: { kind: "write" } },
    },
  },
  { names: "npx bunx pnpx", ...starts, alone: "--version -v" },
  {
    names: "pnpm",
    ...handedOn,
    operands: "",
    subcommands: {
      "test t start run": handedOn,
      "install i add remove rm uninstall un update up prune dedupe": added,
      "ls list why outdated": {
        flags: "-r --json --recursive --long --prod --dev",
        values: { number: "--depth", plain: "-F --filter" },
        operands: "package...",
      },
      "exec dlx": starts,
    },
  },
  {
    names: "yarn",
    flags: "-s --silent",
    subcommands: {
      "test start run": handedOn,
      "install add remove up upgrade dedupe": added,
      "why list info": { flags: "--json --recursive", operands: "package..." },
      "exec dlx": starts,
    },
  },
  {
    names: "bun",
    subcommands: {
      "test": {
        flags: "-u --bail --coverage --only --silent --todo --update-snapshots --watch",
        values: { plain: "-t --test-name-pattern", number: "--rerun-each --timeout" },
        operands: "plain...",
      },
      "run": handedOn,
      "install i add a remove rm update": { ...added, flags: `${added.flags ?? ""} -d --development` },
      "x": starts,
    },
    alone: "--version -v --revision",
  },
];
