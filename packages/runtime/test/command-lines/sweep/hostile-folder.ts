import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, realpath, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A word that is in the canaries alone. It is a name in every language, so that errors quote it. */
export const OUTER = "zebracanary";
export const INNER = "okapicanary";

/** A folder in which every file that a program could obey starts a marker, and a canary outside of it. */
export interface HostileFolder {
  readonly root: string;
  readonly workspace: string;
  /** Paths of the canary outside, of the one inside and of the marker, from the workspace. */
  readonly outer: string;
  readonly inner: string;
  readonly marker: string;
  /** The file to which the marker adds the name of the line that started it. */
  readonly marked: string;
}

const MARKER = "./marker.sh";
/** Files that programs look for in the folder they run in. */
const OBEYED: { readonly [path: string]: string } = {
  ".npmrc": `script-shell=${MARKER}\nshell=${MARKER}\nnode-options=--require ./marker.cjs\ngit=${MARKER}\neditor=${MARKER}\nviewer=${MARKER}\n`,
  ".yarnrc.yml": "yarnPath: ./marker.cjs\n",
  ".yarnrc": 'yarn-path "./marker.cjs"\n',
  ".pnpmfile.cjs": 'require("./marker.cjs");\n',
  ".pnp.cjs": 'require("./marker.cjs");\n',
  "package.json": JSON.stringify({ scripts: { preinstall: MARKER, test: MARKER, version: MARKER }, packageManager: "pnpm@0.0.1" }),
  "bunfig.toml": 'preload = ["./marker.cjs"]\n',
  "Makefile": "X := $(shell ./marker.sh)\n%:\n\t./marker.sh\n",
  "GNUmakefile": "X := $(shell ./marker.sh)\n%:\n\t./marker.sh\n",
  "CMakeLists.txt": "execute_process(COMMAND ./marker.sh)\n",
  "build.ninja": "rule r\n  command = ./marker.sh\nbuild a: r\n",
  "justfile": "x:\n\t./marker.sh\n",
  "rust-toolchain.toml": '[toolchain]\npath = "./toolchain"\n',
  "toolchain/bin/cargo": "#!/bin/sh\nexec ../../marker.sh\n",
  "toolchain/bin/rustc": "#!/bin/sh\nexec ../../marker.sh\n",
  ".cargo/config.toml": '[build]\nrustc = "./marker.sh"\n[alias]\nversion = "run"\n',
  ".mvn/jvm.config": "-XX:OnError=./marker.sh -Xmx1\n",
  "pom.xml": "<project/>\n",
  "build.gradle": 'println "./marker.sh".execute().text\n',
  "sitecustomize.py": 'import subprocess; subprocess.run(["./marker.sh"])\n',
  "conftest.py": 'import subprocess; subprocess.run(["./marker.sh"])\n',
  "pip.py": 'import subprocess; subprocess.run(["./marker.sh"])\n',
  "pytest.ini": "[pytest]\naddopts = -p conftest\npythonpath = .\n",
  ".python-version": "../../../workspace\n",
  ".tool-versions": "nodejs path:.\npython path:.\n",
  "bin/python3": "#!/bin/sh\nexec ./marker.sh\n",
  ".ackrc": "--pager=./marker.sh\n",
  ".ripgreprc": "--pre=./marker.sh\n",
  ".gdbinit": "shell ./marker.sh\n",
  ".vimrc": ":!./marker.sh\n",
  ".exrc": ":!./marker.sh\n",
  ".wgetrc": "use_askpass = ./marker.sh\n",
  ".curlrc": `url = "file://${OUTER}"\n`,
  "node_modules/.bin/ls": "#!/bin/sh\nexec ./marker.sh\n",
  ".gitattributes": "* diff=marker filter=marker merge=marker\n",
};

export async function createHostileFolder(): Promise<HostileFolder> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "keelson-sweep-")));
  const workspace = join(root, "workspace");
  const marked = join(root, "marked");
  for (const name of ["home", "outside"]) await mkdir(join(root, name));
  await mkdir(join(workspace, "kept"), { recursive: true });
  const mark = `echo "$SWEEP_LINE" >> '${marked}'`;
  // Each canary is a marker, too. Its lines are such as lists of checksums, of patterns and of names have.
  const md5 = "d41d8cd98f00b204e9800998ecf8427e";
  const canary = (word: string): string => `#!/bin/sh\n${mark}\n${word}\n${md5}  ${word}\n*.${word}\n`;
  for (const [path, word] of [
    [join(root, "outside", "canary.txt"), OUTER],
    [join(workspace, "kept", "inner.txt"), INNER],
  ] as const) {
    await writeFile(path, canary(word));
    await chmod(path, 0o755);
  }
  await writeFile(join(workspace, "input.txt"), "b 1\na 2\n");
  await writeFile(join(workspace, "input.json"), '{"a":1}\n');
  await repository(workspace);
  await writeFile(join(workspace, "marker.sh"), `#!/bin/sh\n${mark}\n`);
  await writeFile(
    join(workspace, "marker.cjs"),
    `require("node:fs").appendFileSync(${JSON.stringify(marked)}, process.env.SWEEP_LINE + "\\n");\n`,
  );
  for (const [path, text] of Object.entries(OBEYED)) {
    await mkdir(join(workspace, path, ".."), { recursive: true });
    await writeFile(join(workspace, path), text);
    if (text.startsWith("#!")) await chmod(join(workspace, path), 0o755);
  }
  await chmod(join(workspace, "marker.sh"), 0o755);
  return { root, workspace, outer: "../outside/canary.txt", inner: "kept/inner.txt", marker: MARKER, marked };
}

/** A repository with two commits and a change, so that its commands have something to show. */
async function repository(workspace: string): Promise<void> {
  const git = (...args: readonly string[]): Promise<unknown> =>
    run("git", ["-c", "user.name=a", "-c", "user.email=a@a.test", ...args], { cwd: workspace });
  await git("init", "-q");
  await git("add", "input.txt");
  await git("commit", "-q", "-m", "one");
  await git("add", "input.json");
  await git("commit", "-q", "-m", "two");
  await git("tag", "v1");
  await writeFile(join(workspace, "input.txt"), "b 1\nc 3\n");
}
