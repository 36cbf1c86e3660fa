import { symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { CallEffects } from "@keelson/protocol";
import { createSandboxExecutor, readCommandLine, type SandboxPolicy } from "keelson/environment";
import { expect, it } from "vitest";
import { createProbeWorld } from "./probe-world.ts";
import { describeWithBubblewrap } from "./with-bubblewrap.ts";

describeWithBubblewrap("a sandbox that is asked beforehand", () => {
  it("refuses what it then holds back, and nothing else of what can be told [AG-21]", { timeout: 30_000 }, async () => {
    await using world = await createProbeWorld();
    const policy: SandboxPolicy = {
      filesystem: { deniedPaths: ["denied", join(world.outside, "secret")] },
      commands: { denied: ["perl"] },
    };
    const executor = createSandboxExecutor(policy, { workspace: world.workspace });
    const lines = [
      "echo x >> AGENTS.md",
      "echo x >> new-file",
      "echo x >> .git/hooks/post-merge",
      "echo x >> .git/index",
      "echo x >> denied/key",
      "echo x > /tmp/out",
      "echo x > /dev/shm/out",
      `echo x >> ${world.outside}/file`,
      `cp AGENTS.md ${world.outside}/copy`,
      `touch ${world.outside}/file`,
      "touch nested/file",
      "cat AGENTS.md",
      "test -s denied/key && cat denied/key",
      `test -s ${world.outside}/secret && cat ${world.outside}/secret`,
      `cat ${world.outside}/file`,
      "cat /etc/passwd",
      "cat /etc/shadow",
      "perl -v",
      "/usr/bin/perl -v",
      "true",
    ];
    for (const line of lines) {
      const effects = await executor.confine?.(await readCommandLine(line, { cwd: world.workspace }));
      const isRefused = effects?.confined?.refused.length !== 0;
      const ran = await executor.execute({ command: line }).then(
        ({ exitCode }) => exitCode === 0,
        () => false,
      );
      expect({ line, isRefused }).toEqual({ line, isRefused: !ran });
    }
  });

  it("takes a path below its workspace as the same, through a link to the workspace or not", async () => {
    await using world = await createProbeWorld();
    const link = join(dirname(world.workspace), "link");
    symlinkSync(world.workspace, link);
    const executor = createSandboxExecutor({}, { workspace: link });
    const refused = async (effects: CallEffects) => (await executor.confine?.(effects))?.confined?.refused;
    expect(await refused({ writes: [join(link, "a"), join(world.workspace, "a"), "a"] })).toEqual([]);
    expect(await refused({ writes: [join(dirname(link), "a")] })).toHaveLength(1);
    expect(await refused({ reads: [join(homedir(), ".ssh/id_rsa")] })).toHaveLength(1);
  });
});
