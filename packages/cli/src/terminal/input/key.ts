/** An input at the keyboard. */
export type Key = NamedKey | Typed | Pasted;

/** A key by its name, as in keymaps: `enter`, `ctrl+o`, `alt+enter`, `shift+tab`, `pageup`, … */
interface NamedKey {
  readonly type: "key";
  readonly name: string;
}

/** Text that was typed. */
interface Typed {
  readonly type: "text";
  readonly text: string;
}

/** A paste: one event, whatever its size; its line ends are `\n`. */
interface Pasted {
  readonly type: "paste";
  readonly text: string;
}
