import type { ChooseFrom, OpenedPicker } from "../pickers/choose-from.ts";
import type { Picker } from "../pickers/list-picker.ts";
import type { LivePart, LivePlace } from "../terminal/live-part.ts";
import type { Style } from "../text/style.ts";
import type { TerminalInput } from "./terminal-input.ts";

/** The part of a screen that shows lists. */
export interface PartScreen {
  /** Puts a part into a place of the live region, or takes it away. */
  part(place: LivePlace, part: LivePart | undefined): void;
  /** Asks for a frame: a part has changed. */
  changed(): void;
}

export interface PickingOptions {
  readonly screen: PartScreen;
  readonly style: Style;
  readonly keys: Pick<TerminalInput, "lend">;
  /** The part that a list replaces while it is open. Default: none. */
  readonly input?: LivePart;
}

/** Shows lists in the place of the input, one at a time. */
export interface Picking {
  readonly choose: ChooseFrom;
  /** Leaves the list that is open, without a choice. */
  leave(): void;
}

export function createPicking({ screen, style, keys, input }: PickingOptions): Picking {
  let leave: (() => void) | undefined;

  return {
    leave: () => leave?.(),
    async choose<T>(open: (opened: OpenedPicker<T>) => Picker) {
      leave?.();
      const { promise, resolve } = Promise.withResolvers<T | undefined>();
      const changed = (): void => {
        if (leave === abandon) screen.changed();
      };
      const abandon = (): void => resolve(undefined);
      leave = abandon;
      const picker = open({ style, onDone: resolve, changed });
      const giveBack = keys.lend((sequence) => {
        picker.handle(sequence);
        changed();
      });
      screen.part("input", picker.part);
      try {
        return await promise;
      } finally {
        giveBack();
        if (leave === abandon) {
          leave = undefined;
          screen.part("input", input);
        }
      }
    },
  };
}
