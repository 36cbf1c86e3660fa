import { CommandParser } from "./command-parser.ts";
import type { Expansion, TestCommand } from "./syntax-tree.ts";
import type { WordPlace } from "./word-scanner.ts";

const TEST_END = /\]\](?=[ \t\n;&|()<>]|$)/y;

/** Reads `[[ … ]]`, in which words and operators have rules of their own. */
export abstract class TestParser extends CommandParser {
  protected test(): TestCommand {
    const start = this.at;
    const expansions = this.withinLine(() => this.#testWords());
    const text = this.source.slice(start, this.at);
    return { kind: "test", text, expansions, redirections: this.redirections() };
  }

  #testWords(): readonly Expansion[] {
    const expansions: Expansion[] = [];
    let place: WordPlace = "command";
    let depth = 0;
    this.at += 2;
    for (;;) {
      while (this.match(/[ \t\n]|\\\n/y) !== null) this.at += this.startsWith("\\") ? 2 : 1;
      if (this.match(TEST_END) !== null) break;
      if (this.startsWith("(") && place === "command") depth++;
      if (this.startsWith(")") && --depth < 0) this.fail();
      const operator = this.match(place === "command" ? /&&|\|\||[()]|[<>](?!\()/y : /\)/y)?.[0];
      if (operator !== undefined) this.operator(operator);
      else {
        if (this.isAtEnd || this.startsWith("#") || this.startsWith("!(")) this.fail();
        const word = this.word(place);
        if (word.text === "") this.fail();
        expansions.push(...word.expansions);
        place = word.text === "=~" ? "regex" : /^(?:==?|!=)$/.test(word.text) ? "pattern" : "command";
      }
    }
    if (depth !== 0) this.fail();
    this.at += 2;
    return expansions;
  }
}
