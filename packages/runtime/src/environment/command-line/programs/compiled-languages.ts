import type { ProgramEntry, ProgramForm } from "./program-entry.ts";

/** Options of `go` that name a program, a file of settings or another folder are missing: `-exec`, `-toolexec`, `-vettool`, `-overlay`, `-modfile`, `-ldflags`, `-C`. */
const GO_FLAGS = "-a -asan -buildvcs=false -cover -json -msan -n -race -trimpath -v -work -x";
const GO_VALUES = { plain: "-buildmode -covermode -coverpkg -mod -tags", number: "-p" } as const;
const goBuild: ProgramForm = {
  singleDash: true,
  flags: GO_FLAGS,
  values: { ...GO_VALUES, write: "-o" },
  operands: "plain...",
  here: { kind: "write" },
};

const CARGO_FLAGS = `-q -r -v
  --all --all-features --all-targets --benches --bins --doc --examples --frozen --keep-going --lib --locked --no-default-features --no-fail-fast
  --no-run --offline --quiet --release --tests --verbose --workspace`;
const CARGO_VALUES = {
  plain: "-F -p --bench --bin --color --example --exclude --features --message-format --package --profile --test",
  package: "--target",
  number: "-j --jobs",
} as const;
const cargoBuild: ProgramForm = {
  flags: CARGO_FLAGS,
  values: CARGO_VALUES,
  operands: "plain...",
  rest: "plain...",
  restFlags: `-A -D -W --check --exact --ignored --include-ignored --list --no-capture --nocapture --show-output --skip --test-threads
    --test-threads=1`,
};
const CARGO_GLOBAL = "-q -v --frozen --locked --offline --quiet --verbose";

/**
 * Compilers and builders. They run code of the folder, and some obey it even for their version: `go` and `cargo` take the toolchain that a file
 * of the folder names, `mvn` its options for Java. Only versions of the others are printed unasked.
 */
export const compiledLanguages: readonly ProgramEntry[] = [
  {
    names: "go",
    singleDash: true,
    subcommands: {
      "build install": goBuild,
      "vet list": {
        ...goBuild,
        flags: `${GO_FLAGS} -deps -e -m -test -u -versions`,
        values: { ...GO_VALUES, plain: `${GO_VALUES.plain} -f` },
      },
      "run": { ...goBuild, stops: true },
      "test": {
        ...goBuild,
        flags: `${GO_FLAGS} -benchmem -c -failfast -short`,
        values: {
          plain: `${GO_VALUES.plain} -bench -benchtime -list -run -shuffle -skip -timeout -vet`,
          number: "-count -cpu -fuzztime -p -parallel",
          write: "-coverprofile -cpuprofile -memprofile -o",
        },
      },
      "fmt generate": { singleDash: true, flags: "-n -v -x", operands: "plain...", here: { kind: "write" } },
      "get": { singleDash: true, flags: "-t -u -v -x", operands: "plain...", here: { kind: "write" } },
      "mod": {
        subcommands: {
          "tidy download verify vendor graph why": {
            singleDash: true,
            flags: "-e -json -m -v -x",
            operands: "plain...",
            here: { kind: "write" },
          },
          "init": { operands: "plain", here: { kind: "write" } },
        },
      },
      "doc": { singleDash: true, flags: "-all -c -short -src -u", operands: "plain..." },
      "env": { operands: "plain...", flags: "-json", singleDash: true },
      "version": {},
    },
  },
  { names: "gofmt", flags: "-d -e -l -s -w", operands: "read...", operandsWith: { "-w": "write..." } },
  {
    names: "cargo",
    flags: CARGO_GLOBAL,
    subcommands: {
      "build b check c test t bench clippy doc d fix rustc": cargoBuild,
      "run r": { ...cargoBuild, restFlags: "" },
      "fmt": { flags: "-q -v --all --check --quiet --verbose", values: { plain: "-p --package" }, rest: "plain...", restFlags: "--check" },
      "clean": {
        flags: `${CARGO_GLOBAL} -r --doc --dry-run --release`,
        values: { plain: "-p --package --profile --target" },
        here: { kind: "write" },
      },
      "add remove rm update": {
        flags: `${CARGO_GLOBAL} -n -w --build --dev --dry-run --no-default-features --optional --recursive --workspace`,
        values: { plain: "-F -p --features --package --precise --rename" },
        operands: "package...",
        here: { kind: "write" },
      },
      "tree metadata": {
        flags: `${CARGO_GLOBAL} -d -i --all-features --duplicates --no-default-features --no-deps --workspace`,
        values: { plain: "-e -F -p --edges --features --format-version --package --prefix --target", number: "--depth" },
      },
      "nextest": { subcommands: { "run list": { ...cargoBuild, flags: `${CARGO_FLAGS} --no-capture` } } },
    },
  },
  {
    // A target with an equals sign sets a variable, which may call a shell; `-f`, `-E` and `-I` name makefiles.
    names: "make gmake",
    flags: `-B -i -k -n -q -r -R -s -w
      --always-make --dry-run --ignore-errors --just-print --keep-going --no-builtin-rules --no-keep-going --no-print-directory --no-silent
      --print-directory --question --quiet --recon --silent --trace`,
    values: { folder: "-C --directory" },
    optional: { number: "-j -l --jobs --load-average --max-load", plain: "-O --output-sync" },
    operands: "target...",
    alone: "--help --version -h -v",
  },
  { names: "ninja samu", flags: "-n -v --quiet --verbose", values: { number: "-j -k -l" }, operands: "target...", alone: "--version" },
  { names: "just", flags: "-n -q --dry-run --list --quiet --summary", operands: "target...", alone: "--help --version" },
  {
    // `-D` sets any variable, `-P` runs a script, `-E` is a shell of its own.
    names: "cmake",
    flags: `-DCMAKE_BUILD_TYPE=Debug -DCMAKE_BUILD_TYPE=Release -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
      --clean-first --fresh --verbose -v -Wdev -Wno-dev`,
    values: { folder: "--build", look: "-S", write: "-B", plain: "--config --target -t", number: "-j --parallel" },
    operands: "look",
    rest: "target...",
    alone: "--help --version",
  },
  {
    names: "ctest",
    flags: "-N -Q -V -VV --output-on-failure --progress --quiet --rerun-failed --stop-on-failure --verbose",
    values: { plain: "-C -E -L -LE -R --build-config --exclude-regex --label-regex --tests-regex", number: "-j --parallel --timeout" },
    alone: "--help --version",
  },
  { names: "gcc g++ cc c++ clang clang++ ld", alone: "--version -dumpversion" },
  {
    names: "java",
    singleDash: true,
    flags: "-ea -server",
    values: { script: "-jar" },
    operands: "plain...",
    stops: true,
    alone: "--version -version --help",
  },
  {
    names: "javac",
    singleDash: true,
    flags: "-g -parameters -verbose",
    values: { write: "-d" },
    operands: "read...",
    alone: "--version -version --help",
  },
  {
    // A goal that is none of the life cycle is a plugin, which may run anything.
    names: "mvn mvnw",
    singleDash: true,
    flags: `-am -amd -B -DskipTests -DskipTests=true -e -fae -ff -fn -ntp -o -q -U -X --batch-mode --no-transfer-progress --offline --quiet
      clean compile dependency:tree install package process-classes test test-compile validate verify`,
    values: { plain: "-pl -T --projects" },
    here: { kind: "write" },
  },
  {
    names: "gradle gradlew",
    flags: `-i -q -s
      --build-cache --continue --info --no-build-cache --no-daemon --no-parallel --offline --parallel --quiet --rerun-tasks --stacktrace`,
    values: { plain: "-x --console --exclude-task --tests" },
    operands: "target...",
    here: { kind: "write" },
  },
];
