import { describe, expect, it } from "vitest";
import type { SlashCommand } from "./slash-command.ts";
import { createSlashCommandTable } from "./slash-command-table.ts";

const command = (name: string, more: Partial<SlashCommand> = {}): SlashCommand => ({ name, description: name, execute: () => [], ...more });

describe("createSlashCommandTable", () => {
  it("finds a command by its name and by its alias, and keeps the order", () => {
    const [quit, help] = [command("quit", { aliases: ["exit"] }), command("help")];
    const table = createSlashCommandTable([quit, help]);
    expect([table.find("quit"), table.find("exit"), table.find("help"), table.find("nothing")]).toEqual([quit, quit, help, undefined]);
    expect(table.commands).toEqual([quit, help]);
  });

  it("uses the first of two commands with one name, and reports the other", () => {
    const [own, file] = [command("help"), command("help", { file: "/project/.claude/commands/help.md" })];
    const shadowed: unknown[] = [];
    const table = createSlashCommandTable([own, file], (left, by) => void shadowed.push([left, by]));
    expect([table.find("help"), table.commands, shadowed]).toEqual([own, [own], [[file, own]]]);
  });

  it("takes an alias of two commands for neither, and a name before an alias", () => {
    const [a, b, fix] = [command("web:fix", { aliases: ["fix", "go"] }), command("api:fix", { aliases: ["go"] }), command("fix")];
    const table = createSlashCommandTable([a, b, fix]);
    expect([table.find("go"), table.find("fix"), table.find("web:fix")]).toEqual([undefined, fix, a]);
  });

  it("knows no command by the names of what objects inherit", () => {
    expect(createSlashCommandTable([command("help")]).find("constructor")).toBeUndefined();
  });
});
