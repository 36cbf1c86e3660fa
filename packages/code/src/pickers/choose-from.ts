import type { Style } from "../text/style.ts";
import type { Picker } from "./list-picker.ts";

/** A list that is about to be shown. */
export interface OpenedPicker<T> {
  readonly style: Style;
  /** Called once. @param chosen `undefined`: the person left */
  onDone(chosen: T | undefined): void;
  /** Has the list drawn again: its choices have changed. */
  changed(): void;
}

/** Shows a list in place of the input until something was chosen. @returns `undefined`: the person left */
export type ChooseFrom = <T>(open: (picker: OpenedPicker<T>) => Picker) => Promise<T | undefined>;
