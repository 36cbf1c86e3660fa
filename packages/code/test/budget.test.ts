import { describe, expect, it, vi } from "vitest";
import { openWorkspace } from "./keelson-process.ts";

vi.setConfig({ testTimeout: 120_000 });

describe("a run of keelson whose budget is met", () => {
  it("asks with --on-budget ask, shows how to answer, and continues in another process with the amount that was allowed", async () => {
    await using workspace = await openWorkspace([{ text: "Done.", usage: { inputTokens: 1_000, outputTokens: 10 } }]);
    const asked = await workspace.keelson("-p", "--max-budget-usd", "0.0001", "--on-budget", "ask", "go");
    expect(asked.code).toBe(4);
    expect(asked.stderr).toMatch(
      /The run has used \$0 of its limit of \$0\.0001, and the rest does not cover what comes next\. Allow \$\d/,
    );
    expect(workspace.server.requests).toHaveLength(0);
    const [, approve = "", token = ""] = /(keelson approve (\S+) allow-modified '\{"usd":"2\.50"\}')/.exec(asked.stderr) ?? [];
    expect(approve).not.toBe("");
    const [, session = ""] = /keelson -p -r (\S+)/.exec(asked.stderr) ?? [];

    const wrong = await workspace.keelson("approve", token, "allow-modified", '{"tokens":5}');
    expect([wrong.code === 0, wrong.stderr]).toEqual([false, expect.stringContaining('It has no "usd"')]);
    const allowed = await workspace.keelson("approve", token, "allow-modified", '{"usd":"2.50"}');
    expect([allowed.code, allowed.stdout]).toEqual([0, expect.stringContaining("recorded: allow-modified")]);
    const resumed = await workspace.keelson("-p", "-r", session);
    expect([resumed.code, resumed.stdout]).toEqual([0, "Done.\n"]);
    expect(resumed.stderr).toMatch(/session \S+ goes on with/);

    const shown = await workspace.keelson("sessions", "show", session);
    expect(shown.stdout).toMatch(/goes on with about [\d.k]+ tokens, \d+% of the context window · /);
  });
});
