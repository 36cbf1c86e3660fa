import { execFile } from "node:child_process";
import { readdirSync, readFileSync, lstatSync } from "node:fs";
import { join } from "node:path";
import type { ExecuteResponse } from "@keelson/protocol";
import { createOverlay, createSandboxExecutor, createSandboxSession, type SandboxPolicy } from "keelson/environment";
import { describe, expect, it } from "vitest";
import { sampleSize, seed } from "../../../../test/tier.ts";
import type { EscapeProbe } from "./escape-probe.ts";
import { ESCAPE_PROBES } from "./escape-probes.ts";
import { OVERLAY_PROBES } from "./overlay-probes.ts";
import { SESSION_PROBES } from "./session-probes.ts";
import { createProbeWorld, type ProbeWorld } from "./probe-world.ts";
import { describeWithBubblewrap } from "./with-bubblewrap.ts";

const policyOf = ({ outside }: ProbeWorld): SandboxPolicy => ({
  filesystem: { deniedPaths: ["denied", "deep/er", "not-yet", ".claude/private/key", join(outside, "secret")], hideSecrets: true },
  resources: { processes: 80, memory: "256MiB", fileSize: "32MiB", openFiles: 256, temporary: "16MiB" },
});

/** One script for all of them, which tells what each ended with: several in one sandbox, since a start of one takes time. */
function scriptOf(probes: readonly EscapeProbe[], step: "script" | "lasts" = "script"): string {
  const tries = probes.map(({ where, name, ...steps }, index) => {
    const script = steps[step] ?? "true";
    const condition = where === undefined ? "true" : `( ${where} ) >/dev/null 2>&1`;
    return [
      `PROBE=$RUN-${index}; export PROBE; cat > "/tmp/$WORLD-probe-${index}" <<'KEELSON_PROBE'\n${script}\nKEELSON_PROBE`,
      `if ${condition}; then timeout -k 1 20 bash "/tmp/$WORLD-probe-${index}" >/dev/null 2>&1 </dev/null; echo "ended ${index} $? ${name}"; else echo "ended ${index} nowhere"; fi`,
      `rm -f "/tmp/$WORLD-probe-${index}"`,
    ].join("\n");
  });
  return tries.join("\n");
}

function endings(output: string): (number | "nowhere" | undefined)[] {
  const ended: (number | "nowhere" | undefined)[] = [];
  for (const [, index, code] of output.matchAll(/^ended (\d+) (\d+|nowhere)/gm))
    ended[Number(index)] = code === "nowhere" ? code : Number(code);
  return ended;
}

/** Everything in some folders, and what instructs agents, without what was moved aside and folders without anything else. */
function stateOf(folders: readonly string[], { workspace }: ProbeWorld): readonly string[] {
  const paths = folders
    .flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) => join(entry.parentPath, entry.name)))
    .filter((path) => !path.includes(".withheld-"))
    .concat(join(workspace, "AGENTS.md"));
  const isEmpty = (path: string): boolean =>
    lstatSync(path).isDirectory() && !paths.some((other) => other.startsWith(`${path}/`) && !lstatSync(other).isDirectory());
  return paths
    .filter((path) => !isEmpty(path))
    .toSorted()
    .map((path) => `${path} ${lstatSync(path).mode} ${lstatSync(path).isFile() ? readFileSync(path, "utf8") : ""}`);
}

/** Evenly over all kinds, from a place that the seed tells. */
function sampleOf(size: number, all: readonly EscapeProbe[]): readonly EscapeProbe[] {
  return all.filter((_probe, index) => ((index + seed) * size) % all.length < size);
}

interface Command {
  readonly command: string;
  readonly env: { readonly [name: string]: string };
  readonly timeoutMs: number;
}

/** @param confined runs a command in the sandbox, in the workspace of the world */
async function tryProbes(
  world: ProbeWorld,
  probes: readonly EscapeProbe[],
  confined: (command: Command, policy: SandboxPolicy, env: NodeJS.ProcessEnv) => Promise<ExecuteResponse>,
): Promise<void> {
  const env = { ...process.env, ...world.secrets };
  const command = { command: scriptOf(probes), env: { ...world.env, RUN: "inside" }, timeoutMs: 240_000 };
  const first = endings((await confined(command, policyOf(world), env)).stdout);
  const lasting = endings((await confined({ ...command, command: scriptOf(probes, "lasts") }, policyOf(world), env)).stdout);
  const inside = first.map((code, index) => (code === 0 ? lasting[index] : code));

  const bare = await new Promise<string>((resolve) => {
    execFile(
      "bash",
      ["-c", scriptOf(probes)],
      { cwd: world.workspace, env: { ...env, ...world.env, RUN: "bare" }, timeout: 240_000 },
      (_error, output) => resolve(output),
    );
  });
  const outside = endings(bare);
  const table = probes.map(({ kind, name }, index) => ({ probe: `${kind}: ${name}`, outside: outside[index], inside: inside[index] }));
  // What the machine doesn't have is nobody's to get; it is told, so that it is seen when too much is missing.
  const tried = table.filter((row) => row.outside !== "nowhere");
  process.stdout.write(`${tried.length} escape probes, ${table.length - tried.length} without a ground here\n`);
  // As text, so that a failure names the probe.
  const toldOf = ({ probe, outside, inside }: (typeof tried)[number]): string => `${probe}: ${outside} outside, ${inside} inside`;
  expect(tried.filter((row) => row.outside !== 0).map(toldOf)).toEqual([]);
  expect(tried.filter((row) => row.inside === 0 || row.inside === undefined).map(toldOf)).toEqual([]);
  expect(tried.length).toBeGreaterThanOrEqual(Math.floor(probes.length * 0.9));
}

describeWithBubblewrap("attempts to get out of the sandbox", () => {
  const isRoot = process.getuid?.() === 0;
  const possible = ESCAPE_PROBES.filter(({ root }) => isRoot || root !== true);
  const all = possible.length;

  it("succeed without it, and all fail inside of it", { timeout: 300_000 }, async () => {
    await using world = await createProbeWorld();
    const { outside, workspace } = world;
    // What the probes on hooks are after, too.
    const inside = [".git", "nested/.git", "bare.git", "tools", ".claude", "denied", "deep"].map((folder) => join(workspace, folder));
    const before = stateOf([outside, ...inside], world);
    await tryProbes(
      world,
      sampleOf(sampleSize("escape probes", { test: 64, ci: all, soak: all }), possible),
      async (command, policy, env) => {
        const response = await createSandboxExecutor(policy, { workspace, env }).execute(command);
        expect(stateOf([outside, ...inside], world)).toEqual(before);
        return response;
      },
    );
  });

  it("fail as well where the commands share the network and /tmp of a session", { timeout: 300_000 }, async () => {
    await using world = await createProbeWorld();
    const { outside, workspace } = world;
    const before = stateOf([outside], world);
    const probes = [...sampleOf(sampleSize("escape probes in a session", { test: 32, ci: 64, soak: all }), possible), ...SESSION_PROBES];
    await tryProbes(world, probes, async (command, policy, env) => {
      await using session = createSandboxSession();
      const response = await createSandboxExecutor(policy, { workspace, env, session }).execute(command);
      expect(session.unavailable).toBeUndefined();
      expect(stateOf([outside], world)).toEqual(before);
      return response;
    });
  });

  it("fail as well where the workspace is an overlay: its base and other overlays are out of reach", { timeout: 300_000 }, async () => {
    await using world = await createProbeWorld();
    const { outside, workspace: base, store } = world;
    await using other = await createOverlay({ base, store, id: "other", shell: "none" });
    await other.files.write("theirs.txt", "canary\n");
    await using overlay = await createOverlay({ base, store, shell: "overlayfs" });
    const before = stateOf([outside, base], world);
    const probes = [...sampleOf(sampleSize("escape probes in an overlay", { test: 32, ci: 64, soak: all }), possible), ...OVERLAY_PROBES];
    await tryProbes(world, probes, async (command, policy, env) => {
      // Whichever probes are drawn, something is written.
      const response = await overlay.executor(policy, { env }).execute({ ...command, command: `echo x > written\n${command.command}` });
      expect(stateOf([outside, base], world)).toEqual(before);
      // It wrote, and there is where it is.
      expect((await overlay.diff()).map(({ path }) => path)).toContain("written");
      return response;
    });
  });
});

describe("the table of escape probes", () => {
  it("has at least 60, each with a name of its own", () => {
    const all = [...ESCAPE_PROBES, ...OVERLAY_PROBES, ...SESSION_PROBES];
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
    expect(ESCAPE_PROBES.length).toBeGreaterThanOrEqual(60);
  });
});
