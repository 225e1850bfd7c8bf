/** Flushes that the disk does not do, as though the store had left them out, and what each means. */
export const faults = {
  files: "no file is flushed, before it is acknowledged or takes the place of another",
  parent: "that the folder of the store is there is not flushed",
  folder: "nor which files are in it",
  snapshots: "nor which files a snapshot has",
  inboxes: "nor which letters an inbox has",
} as const;

export type Fault = keyof typeof faults;

export const isFault = (name: string): name is Fault => name in faults;
