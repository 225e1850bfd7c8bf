import type { CommandTarget } from "../commands/command.ts";
import { performCommand } from "../commands/commands.ts";
import type { Key } from "../input/key.ts";
import type { Size } from "../text/line.ts";
import type { View, ViewAction, ViewStep } from "../views/view.ts";

/** The view on the alternate screen, if there is one. */
export class OpenView {
  present: View | null = null;
  readonly #perform: (action: ViewAction) => void;
  readonly #changed: () => void;

  constructor(perform: (action: ViewAction) => void, changed: () => void) {
    this.#perform = perform;
    this.#changed = changed;
  }

  open(view: View): void {
    this.present = view;
    this.#changed();
  }

  /** @param closes whether the key closes any view */
  press(key: Key, size: Size, closes: boolean): void {
    if (closes) this.present = null;
    else if (this.present !== null) void this.#follow(this.present.press(key, size));
  }

  /** Shows the steps of a view. A later step is ignored if another view is shown by then. */
  async #follow({ view, later, action }: ViewStep): Promise<void> {
    if (view !== undefined) this.present = view;
    if (action !== undefined) this.#perform(action);
    const shown = this.present;
    const step = await later;
    if (step === undefined || this.present !== shown) return;
    void this.#follow(step);
    this.#changed();
  }
}

/** Performs the action of a view. @param edit starts editing the question of a turn */
export const performViewAction = async (
  action: ViewAction,
  target: () => CommandTarget,
  edit: (turn: number) => Promise<void>,
): Promise<void> => {
  switch (action.type) {
    case "moveHead":
      return performCommand(target(), `/branch ${action.turn}`);
    case "fork":
      return performCommand(target(), `/fork ${action.turn}`);
    case "checkpoint":
      // A checkpoint names the place of the head, so the head moves first.
      await performCommand(target(), `/branch ${action.turn}`);
      return target().propose("/checkpoint ");
    case "edit":
      return edit(action.turn);
    case "openThread":
      await target().turnTo(action.threadId);
      return action.turn === undefined ? undefined : performCommand(target(), `/branch ${action.turn}`);
    case "copy":
      return target().copy(action.text);
  }
};
