import type { SlashCommand } from "../slash-commands/slash-command.ts";
import type { Attention } from "./attention.ts";

/** Receives the states of a conversation, so that a program can take the part of the person. */
export interface ConversationWatcher extends Attention {
  /** A command of the prompt is done. Its lines are shown immediately after it. */
  commandDone(): void;
}

/** Returns an attention that reports each state to a watcher, too. */
export function watchedAttention(attention: Attention, watcher: ConversationWatcher | undefined): Attention {
  if (watcher === undefined) return attention;
  return {
    working() {
      attention.working();
      watcher.working();
    },
    waiting(question) {
      attention.waiting(question);
      watcher.waiting(question);
    },
    done(ending) {
      attention.done(ending);
      watcher.done(ending);
    },
  };
}

/** Returns a command that reports its end to a watcher, also if it fails. */
export function watchedCommand(command: SlashCommand | undefined, watcher: ConversationWatcher | undefined): SlashCommand | undefined {
  if (command === undefined || watcher === undefined) return command;
  return {
    ...command,
    async execute(argument, prompt) {
      try {
        return await command.execute(argument, prompt);
      } finally {
        watcher.commandDone();
      }
    },
  };
}
