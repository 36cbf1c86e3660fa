import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, vi } from "vitest";
import { openWorkspace } from "./keelson-process.ts";

// Every test starts processes, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

describe("sessions as files", () => {
  it("are exported for their owner alone, never over another file, and imported by another home, whole or not at all", async () => {
    await using workspace = await openWorkspace([{ text: "an answer" }]);
    const { session } = JSON.parse((await workspace.keelson("--output-format", "json", "a question")).stdout) as { session: string };
    const file = join(workspace.home, "s.jsonl");
    expect((await workspace.keelson("sessions", "export", session.slice(0, 6), file)).stdout).toContain(file);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await workspace.keelson("sessions", "export", session, file)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("already"),
    });
    const text = await readFile(file, "utf8");
    await writeFile(`${file}.bad`, text.replace("a question", "a quibble!"));
    expect(await workspace.keelson("sessions", "delete", session)).toMatchObject({ code: 0 });
    expect(await workspace.keelson("sessions", "import", `${file}.bad`)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/Line \d+ /),
    });
    expect((await workspace.keelson("sessions", "import", file)).stdout).toContain(`imported: ${session}`);
    const shown = await workspace.keelson("sessions", "show", session);
    expect(shown.stdout).toMatch(/a question[\s\S]*an answer/);
  });

  it("are checked: what is damaged is named with its session, and the exit code says so", async () => {
    await using workspace = await openWorkspace([{ text: "an answer" }]);
    const { session } = JSON.parse((await workspace.keelson("--output-format", "json", "a question")).stdout) as { session: string };
    expect(await workspace.keelson("sessions", "check")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/1 session .*nothing is damaged/),
    });
    {
      using database = new DatabaseSync(join(workspace.home, "sessions.db"));
      database.exec("UPDATE appends SET data = 'torn' WHERE place = (SELECT max(place) FROM appends WHERE records > 0)");
    }
    const checked = await workspace.keelson("sessions", "check", "--json");
    expect(checked.code).toBe(1);
    expect(JSON.parse(checked.stdout)).toMatchObject({
      database: [],
      sessions: [{ session, problems: [expect.stringContaining("damaged")] }],
    });
  });

  it("are repaired: what stands before the damage becomes another session, and the damaged one stays with all that it holds", async () => {
    await using workspace = await openWorkspace([{ text: "an answer" }]);
    const { session } = JSON.parse((await workspace.keelson("--output-format", "json", "a question")).stdout) as { session: string };
    expect((await workspace.keelson("sessions", "repair", session)).stdout).toContain("nothing is damaged");
    const path = join(workspace.home, "sessions.db");
    {
      using database = new DatabaseSync(path);
      database.exec("UPDATE appends SET data = 'torn' WHERE place = (SELECT max(place) FROM appends WHERE records > 0)");
    }
    const rows = (): unknown => {
      using database = new DatabaseSync(path, { readOnly: true });
      return database.prepare("SELECT data FROM appends a JOIN logs l ON l.id = a.place >> 36 WHERE l.name = ?").all(`session/${session}`);
    };
    const before = rows();
    const answer = await workspace.keelson("sessions", "repair", session, "--json");
    expect(answer.code).toBe(0);
    const told = JSON.parse(answer.stdout) as { repaired: string; kept: number; dropped: number };
    expect(told).toMatchObject({ session, problems: [expect.stringContaining("damaged")] });
    expect(told.kept).toBeGreaterThan(0);
    expect(told.dropped).toBeGreaterThan(0);
    expect(rows()).toEqual(before);
    expect(await workspace.keelson("sessions", "show", told.repaired)).toMatchObject({
      stderr: "",
      stdout: expect.stringContaining("a question"),
    });
    expect(await workspace.keelson("sessions", "check", told.repaired)).toMatchObject({ code: 0 });
  });

  it("are pruned by age and size, as a trial first, and exported before they go", async () => {
    await using workspace = await openWorkspace([{ text: "an answer" }]);
    const { session } = JSON.parse((await workspace.keelson("--output-format", "json", "a question")).stdout) as { session: string };
    expect((await workspace.keelson("sessions", "prune", "--older-than", "1d")).stdout).toContain("0 sessions deleted");
    expect((await workspace.keelson("sessions", "prune", "--max-size", "0k", "--dry-run")).stdout).toMatch(
      new RegExp(`would delete ${session}.*\n1 session would be deleted`),
    );
    const archive = join(workspace.home, "archive");
    expect((await workspace.keelson("sessions", "prune", "--older-than", "0h", "--archive", archive)).stdout).toContain(
      "1 session deleted",
    );
    expect(await workspace.keelson("sessions", "show", session)).toMatchObject({ code: 1 });
    expect((await workspace.keelson("sessions", "import", join(archive, `${session}.jsonl`))).stdout).toContain(`imported: ${session}`);
  });

  it("are compressed once nothing happened in them for a while, and shown as before", async () => {
    await using workspace = await openWorkspace([{ text: "an answer ".repeat(3000) }, { text: "another" }]);
    const { session } = JSON.parse((await workspace.keelson("--output-format", "json", "a question")).stdout) as { session: string };
    await workspace.keelson("-p", "-c", "and now?");
    const show = async (): Promise<string> => (await workspace.keelson("sessions", "show", session)).stdout.replace(/.* ago/, "");
    const shown = await show();
    expect((await workspace.keelson("sessions", "prune", "--seal-after", "1d")).stdout).toContain("nothing to compress");
    expect((await workspace.keelson("sessions", "prune", "--seal-after", "0h", "--dry-run")).stdout).not.toContain("compress");
    const pruned = (await workspace.keelson("sessions", "prune", "--seal-after", "0h")).stdout;
    expect(pruned).toMatch(/0 sessions deleted, 0 stayed\n1 session compressed: \d+ records, \d+ KiB to \d+ KiB/);
    expect(await show()).toBe(shown);
    expect(await workspace.keelson("sessions", "check")).toMatchObject({ code: 0 });
  });
});
