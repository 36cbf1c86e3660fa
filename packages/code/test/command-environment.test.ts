import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { eventsOf, openWorkspace, resultsIn, type Workspace } from "./keelson-process.ts";
import { hasBubblewrap } from "./has-bubblewrap.ts";
import { NOTE_SERVER } from "./note-server.ts";

// Every test starts processes, on machines that may be busy.
vi.setConfig({ testTimeout: 120_000 });

/** Secrets as environments hold them, each with a text that no model, log or screen may show. */
const CANARIES: { readonly [name: string]: string } = {
  PGPASSWORD: "canary-pg-7f3k9q",
  DATABASE_URL: "postgres://app:canary-db-7f3k9q@db.example.com/app",
  GH_PAT: "canary-pat-7f3k9q",
  STRIPE_KEY: "canary-stripe-7f3k9q",
  NPM_CONFIG__AUTH: "canary-npm-7f3k9q",
  CARGO_REGISTRY_TOKEN: "canary-cargo-7f3k9q",
  PIP_INDEX_URL: "https://me:canary-pip-7f3k9q@pypi.example.com/simple",
  HTTPS_PROXY: "http://me:canary-proxy-7f3k9q@proxy.example.com:3128",
  SENTRY_DSN: "https://canaryf9a8b7c6d5e4f3a2b1@sentry.example.com/1",
  MYSQL_PWD: "canary-mysql-7f3k9q",
  SSHPASS: "canary-ssh-7f3k9q",
  AWS_SECRET_ACCESS_KEY: "canary-aws-7f3k9q",
  UNLISTED_SETTING: "canary-unlisted-7f3k9q",
  LC_CREDENTIALS: "canary-locale-7f3k9q",
};
const TOOLCHAINS = { JAVA_HOME: "/opt/java", GOPATH: "/opt/go", VIRTUAL_ENV: "/opt/venv", XDG_CACHE_HOME: "/opt/cache", CI: "true" };

const bash = (command: string): object => ({ toolCalls: [{ name: "bash", input: { command } }] });
const bodies = ({ server }: Workspace): string => JSON.stringify(server.requests.map(({ body }) => body));

/** All that the home folder holds, in one text. */
async function kept({ home }: Workspace): Promise<string> {
  const names = await readdir(home, { recursive: true, withFileTypes: true });
  const texts = names
    .filter((entry) => entry.isFile() && entry.name !== "keys.json")
    .map((entry) => readFile(join(entry.parentPath, entry.name), "latin1"));
  return (await Promise.all(texts)).join("\n");
}

describe("the environment of what keelson starts", () => {
  it.each([["--no-sandbox"], hasBubblewrap ? ["--sandbox"] : ["--no-sandbox"]])(
    "holds the variables of toolchains and those that the policy names, and no secret; the model is told which are withheld: %s",
    async (option) => {
      await using workspace = await openWorkspace([bash("env"), { text: "done" }]);
      await mkdir(workspace.home, { mode: 0o700 });
      await writeFile(join(workspace.home, "policy.json"), JSON.stringify({ environment: { pass: ["MY_SETTING"] } }));
      const env = { ...CANARIES, ...TOOLCHAINS, MY_SETTING: "mine" };
      const { code } = await workspace.start(["-p", option, "--allow", "bash", "go"], { env }).finished;
      expect(code).toBe(0);
      const printed = resultsIn(workspace.server.requests.at(-1) as never);
      for (const [name, value] of Object.entries({ ...TOOLCHAINS, MY_SETTING: "mine" })) expect(printed).toContain(`${name}=${value}`);
      // A sandbox has a proxy of its own.
      for (const name of Object.keys(CANARIES).filter((one) => one !== "HTTPS_PROXY")) expect(printed, name).not.toContain(`${name}=`);
      expect(printed).not.toMatch(/REDACTED|proxy\.example\.com/);
      expect(bodies(workspace)).not.toMatch(/canary.*7f3k9q/);
      const first = JSON.stringify(workspace.server.requests[0]?.body);
      for (const name of Object.keys(CANARIES)) expect(first, name).toContain(name);
    },
  );

  it("is the same for hooks and servers of a trusted project", async () => {
    const hooks = { hooks: { SessionStart: [{ hooks: [{ type: "command", command: "env > hook.txt" }] }] } };
    const notes = { command: "sh", args: ["-c", "env > server.txt; exec node server.mjs"], env: { GIVEN: "given" } };
    await using workspace = await openWorkspace([{ text: "done" }], {
      ".keelson/hooks.json": JSON.stringify(hooks),
      ".mcp.json": JSON.stringify({ mcpServers: { notes } }),
      "server.mjs": NOTE_SERVER,
    });
    const { code } = await workspace.start(["-p", "--trust", "go"], { env: { ...CANARIES, ...TOOLCHAINS } }).finished;
    expect(code).toBe(0);
    for (const file of ["hook.txt", "server.txt"]) {
      const printed = await readFile(join(workspace.project, file), "utf8");
      expect(printed, file).toContain("JAVA_HOME=/opt/java");
      expect(printed, file).not.toContain("canary");
    }
    expect(await readFile(join(workspace.project, "server.txt"), "utf8")).toContain("GIVEN=given");
  });
});

describe("the value of a variable that looks like a secret", () => {
  const SHOWING = {
    "values.txt": `${CANARIES["GH_PAT"]}\n${CANARIES["DATABASE_URL"]}\n`,
    ".keelson/hooks.json": JSON.stringify({
      hooks: {
        PostToolUse: [{ hooks: [{ type: "command", command: "cat >> read.txt; cat values.txt >&2; exit 2" }] }],
      },
    }),
  };

  it("is taken out of results, errors, what hooks read and say, events and records, and the host of a URL stays", async () => {
    const script = [
      { toolCalls: [{ name: "read_file", input: { path: "values.txt" } }] },
      bash("cat values.txt; cat values.txt >&2; base64 -w0 values.txt; exit 3"),
      { text: "done" },
    ];
    await using workspace = await openWorkspace(script, SHOWING);
    const finished = await workspace.start(["-p", "--trust", "--output-format", "stream-json", "--allow", "bash", "go"], { env: CANARIES })
      .finished;
    expect(finished.code).toBe(0);
    const told = bodies(workspace);
    expect(told).toContain("[REDACTED:GH_PAT]");
    expect(told).toContain("@db.example.com/app");
    const read = await readFile(join(workspace.project, "read.txt"), "utf8");
    expect(read).toContain("[REDACTED:GH_PAT]");
    for (const text of [told, read, finished.stdout, finished.stderr, await kept(workspace)]) expect(text).not.toMatch(/canary[^"]*7f3k9q/);
    expect(told).not.toContain(Buffer.from("canary-pat-7f3k9q").toString("base64").slice(0, 20));
  });

  it("is not lost by a file that is written with the mark in its place: the call is refused", async () => {
    const write = { toolCalls: [{ name: "write_file", input: { path: "values.txt", content: "x=[REDACTED:GH_PAT]\n" } }] };
    await using workspace = await openWorkspace(
      [{ toolCalls: [{ name: "read_file", input: { path: "values.txt" } }] }, write, { text: "done" }],
      { "values.txt": SHOWING["values.txt"] },
    );
    await workspace.start(["-p", "--permission-mode", "accept-edits", "go"], { env: CANARIES }).finished;
    expect(bodies(workspace)).toContain("stands for a secret that is not shown to you");
    expect(await readFile(join(workspace.project, "values.txt"), "utf8")).toBe(SHOWING["values.txt"]);
  });
});

describe("a key in the environment of keelson", () => {
  // Rules cannot tell what such a program reads: the variables of the processes above it.
  const program = `
    let id = process.pid;
    for (let above = 0; above < 4 && id > 0; above++) {
      const lines = fs.readFileSync("/proc/" + id + "/environ", "utf8").split("\\0");
      console.log(lines.filter((line) => /^(?:HOME|ANTHROPIC|OPENAI)/.test(line)).join(" "));
      id = Number(fs.readFileSync("/proc/" + id + "/stat", "utf8").split(") ")[1].split(" ")[1]);
    }`;
  const reading = `node -e '${program}'`;

  it("is taken out of what a command reads of other processes, and that is a question whatever rule allows the program", async () => {
    await using workspace = await openWorkspace([bash(reading), bash("cat /proc/1*/environ"), { text: "done" }]);
    const { code } = await workspace.keelson("-p", "--no-sandbox", "--allow", "bash", "go");
    expect(resultsIn(workspace.server.requests[1] as never)).toContain("ANTHROPIC_API_KEY=[REDACTED:ANTHROPIC_API_KEY]");
    expect(bodies(workspace)).not.toContain("key-of-anthropic");
    // It suspends for the second.
    expect(code).toBe(4);
  });

  it.skipIf(!hasBubblewrap)(`is not there in the sandbox${hasBubblewrap ? "" : " (skipped: bubblewrap is not installed)"}`, async () => {
    await using workspace = await openWorkspace([bash(reading), { text: "done" }]);
    const { code } = await workspace.keelson("-p", "--sandbox", "--allow", "bash(**)", "go");
    const printed = resultsIn(workspace.server.requests.at(-1) as never);
    expect({ code, printed }).toMatchObject({ code: 0, printed: expect.stringContaining("HOME=") as string });
    expect(printed).not.toMatch(/ANTHROPIC_API_KEY|key-of-anthropic|REDACTED/);
  });
});

describe("a key of the file of keys", () => {
  const KEY = "key-of-the-file-5b7d";
  const noVariable = { ANTHROPIC_API_KEY: "", OPENAI_API_KEY: "" };
  const writeKeys = async ({ home }: Workspace, keys: object): Promise<string> => {
    await mkdir(home, { mode: 0o700, recursive: true });
    const file = join(home, "keys.json");
    await writeFile(file, JSON.stringify(keys), { mode: 0o600 });
    return file;
  };

  it("gives access to models, stands in no environment, and is taken out of what is shown and kept", async () => {
    const script = [bash("tr '\\0' '\\n' < /proc/$PPID/environ; cat ../home/keys.json"), { text: "done" }];
    await using workspace = await openWorkspace(script);
    await writeKeys(workspace, { ANTHROPIC_API_KEY: KEY });
    const { code, stdout, stderr } = await workspace.start(["-p", "--allow", "bash", "--allow", "read_file", "go"], { env: noVariable })
      .finished;
    expect({ code, stderr }).toMatchObject({ code: expect.any(Number) as number });
    const printed = resultsIn(workspace.server.requests.at(-1) as never);
    expect(JSON.stringify(workspace.server.requests[0]?.headers)).toContain(KEY);
    for (const text of [printed, bodies(workspace), stdout, stderr, await kept(workspace)]) expect(text).not.toContain(KEY);
  });

  it("may come from a command, whose value is taken out as well, and is not asked for before it is used", async () => {
    await using workspace = await openWorkspace([bash("cat value.txt"), { text: "done" }], { "value.txt": KEY });
    const asked = join(workspace.project, "asked");
    const command = ["sh", "-c", `echo x >> ${asked}; cat ${join(workspace.project, "value.txt")}`];
    await writeKeys(workspace, { ANTHROPIC_API_KEY: { command } });
    await workspace.start(["sessions", "list"], { env: noVariable }).finished;
    expect(existsSync(asked)).toBe(false);
    const { code, stderr } = await workspace.start(["-p", "go"], { env: noVariable }).finished;
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(await readFile(asked, "utf8")).toBe("x\n");
    expect(resultsIn(workspace.server.requests.at(-1) as never)).toContain("[REDACTED:ANTHROPIC_API_KEY]");
  });

  it.skipIf(process.platform !== "linux")(
    "may be in the keyring, which is asked by its own program and shows nothing when it refuses",
    async () => {
      await using workspace = await openWorkspace([{ text: "done" }], {
        "bin/secret-tool": `#!/bin/sh\n[ "$*" = "lookup service keelson account claude" ] && echo ${KEY} && exit\necho "leaked ${KEY}" >&2; exit 1\n`,
      });
      await chmod(join(workspace.project, "bin/secret-tool"), 0o755);
      const env = { ...noVariable, PATH: `${join(workspace.project, "bin")}:${process.env["PATH"]}` };
      await writeKeys(workspace, { ANTHROPIC_API_KEY: { keyring: "claude" } });
      expect((await workspace.start(["-p", "go"], { env }).finished).code).toBe(0);
      expect(JSON.stringify(workspace.server.requests[0]?.headers)).toContain(KEY);
      await writeKeys(workspace, { ANTHROPIC_API_KEY: { keyring: "other" } });
      const { code, stdout, stderr } = await workspace.start(["-p", "go"], { env }).finished;
      expect(code).toBe(1);
      expect(stdout + stderr).toContain("secret-tool ended with exit code 1. Run it by hand to see the reason.");
      expect(stdout + stderr).not.toContain(KEY);
    },
  );

  it("is not used from a file that others can read, and the message says what to run and shows no value", async () => {
    await using workspace = await openWorkspace([{ text: "done" }]);
    const file = await writeKeys(workspace, { ANTHROPIC_API_KEY: KEY });
    await chmod(file, 0o640);
    const { code, stderr } = await workspace.start(["-p", "go"], { env: noVariable }).finished;
    expect(code).toBe(1);
    expect(stderr).toContain(`Run: chmod 600 ${file}`);
    const doctor = await workspace.start(["doctor"], { env: noVariable }).finished;
    expect(doctor.code).toBe(1);
    expect(doctor.stdout).toContain(`chmod 600 ${file}`);
    for (const text of [stderr, doctor.stdout, doctor.stderr]) expect(text).not.toContain(KEY);
  });

  it("is what doctor recommends in the place of a variable", async () => {
    await using workspace = await openWorkspace([{ text: "done" }]);
    const { stdout } = await workspace.keelson("doctor");
    expect(stdout).toMatch(
      /ANTHROPIC_API_KEY, OPENAI_API_KEY are variables, which other programs of yours can read\. Safer: .*keys\.json with mode 600/,
    );
    expect(stdout).toMatch(/variables +commands do not get .*ANTHROPIC_API_KEY/);
    expect(stdout).not.toContain("key-of-");
  });

  it("must have a form that is known", async () => {
    await using workspace = await openWorkspace([{ text: "done" }]);
    for (const entry of [7, {}, { command: "pass show" }, { command: [] }, { keyring: "a", command: ["b"] }, { keyring: "a", more: 1 }]) {
      await writeKeys(workspace, { ANTHROPIC_API_KEY: entry });
      const { code, stderr } = await workspace.start(["-p", "go"], { env: noVariable }).finished;
      expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('"ANTHROPIC_API_KEY" must be') as string });
    }
  });
});

it("shows a stream of events with one end, also where texts are looked through", async () => {
  await using workspace = await openWorkspace([{ text: "some words that stream" }]);
  const finished = await workspace.keelson("-p", "--output-format", "stream-json", "go");
  const said = eventsOf(finished).flatMap((event) => (event.type === "text-delta" ? [event.text] : []));
  expect(said.join("")).toBe("some words that stream");
});
