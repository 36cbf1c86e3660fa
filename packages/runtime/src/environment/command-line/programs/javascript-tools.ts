import type { ProgramEntry } from "./program-entry.ts";

/**
 * The interpreter of JavaScript and the tools of its projects. They run code of the folder, so only versions are printed unasked. Missing are
 * options that load code: `--import`, `--require`, `--config`, `--plugin`, `--environment`, and reporters and formatters that are files.
 */
export const javascriptTools: readonly ProgramEntry[] = [
  {
    names: "node nodejs",
    runsInput: true,
    flags: `--check --enable-source-maps --experimental-strip-types --experimental-test-coverage --experimental-transform-types --expose-gc
      --no-deprecation --no-warnings --preserve-symlinks --test --test-force-exit --test-only --test-reporter=dot --test-reporter=spec
      --test-reporter=tap --test-update-snapshots --trace-deprecation --trace-uncaught --trace-warnings --watch`,
    values: {
      plain: "--test-name-pattern --test-shard --test-skip-pattern",
      number: "--max-old-space-size --stack-size --test-concurrency --test-timeout",
    },
    operands: "script plain...",
    operandsWith: { "--test": "read..." },
    stops: true,
    alone: "--help --version -h -v",
  },
  { names: "deno", alone: "--version -V" },
  {
    names: "tsx ts-node",
    flags: "--no-warnings",
    operands: "script plain...",
    stops: true,
  },
  {
    names: "tsc",
    flags: `-b -d -w
      --allowJs --build --checkJs --clean --declaration --diagnostics --dry --emitDeclarationOnly --esModuleInterop --extendedDiagnostics --force
      --incremental --listFiles --noEmit --noEmitOnError --pretty --removeComments --skipLibCheck --sourceMap --strict --traceResolution
      --verbose --watch`,
    values: {
      read: "-p --project",
      plain: "-m -t --jsx --lib --module --moduleResolution --target",
      write: "--outDir --outFile --tsBuildInfoFile",
      look: "--rootDir",
    },
    operands: "read...",
    alone: "--help --version -h -v",
  },
  {
    names: "eslint",
    flags: `--cache --color --fix --fix-dry-run --format=compact --format=json --format=stylish --format=unix --no-cache --no-color
      --no-error-on-unmatched-pattern --no-inline-config --no-warn-ignored --pass-on-no-patterns --quiet --report-unused-disable-directives`,
    values: {
      plain: "--cache-strategy --ext --ignore-pattern --rule",
      number: "--max-warnings",
      write: "-o --cache-location --output-file",
    },
    operands: "read...",
    operandsWith: { "--fix": "write..." },
    here: { kind: "write", with: "--fix" },
    alone: "--help --version -h -v",
  },
  {
    names: "prettier",
    flags: "-c -l -u -w --cache --check --ignore-unknown --list-different --no-color --write",
    values: { plain: "--log-level --parser --print-width --tab-width", read: "--ignore-path", look: "--stdin-filepath" },
    operands: "read...",
    operandsWith: { "-w --write": "write..." },
    alone: "--help --version -v",
  },
  {
    names: "vitest",
    flags: `-u --coverage --globals --hideSkippedTests --no-color --no-coverage --no-file-parallelism --no-watch --passWithNoTests --reporter=basic
      --reporter=default --reporter=dot --reporter=json --reporter=junit --reporter=tap --reporter=verbose --run --typecheck --update
      --watch --watch=false`,
    values: {
      plain: "-t --exclude --project --shard --testNamePattern",
      number: "--bail --hookTimeout --maxConcurrency --maxWorkers --minWorkers --retry --testTimeout",
    },
    optional: { plain: "--changed --silent" },
    operands: "plain...",
  },
  {
    names: "jest",
    flags: `-b -i -o -u
      --bail --ci --coverage --detectOpenHandles --expand --findRelatedTests --forceExit --json --lastCommit --listTests --logHeapUsage
      --no-cache --no-color --no-coverage --onlyChanged --onlyFailures --passWithNoTests --runInBand --silent --updateSnapshot --verbose
      --watch --watchAll --watchAll=false`,
    values: {
      plain: "-t --changedSince --shard --testNamePattern --testPathIgnorePatterns --testPathPattern --testPathPatterns",
      number: "-w --maxWorkers --testTimeout",
    },
    operands: "plain...",
  },
  {
    names: "mocha",
    flags:
      "-b -C --bail --check-leaks --exit --forbid-only --no-color --parallel --recursive --reporter=dot --reporter=min --reporter=spec",
    values: { plain: "-f -g --fgrep --grep", number: "-t --retries --timeout" },
    operands: "read...",
  },
  {
    names: "playwright",
    subcommands: {
      test: {
        flags: "-x --forbid-only --headed --last-failed --list --quiet --reporter=dot --reporter=json --reporter=line --reporter=list",
        values: {
          plain: "-g --grep --grep-invert --project --shard",
          number: "-j --max-failures --repeat-each --retries --timeout --workers",
        },
        operands: "plain...",
      },
    },
    alone: "--version -V",
  },
];
