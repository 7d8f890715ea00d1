// A view is made anew for each address; `Live` tells it when it is no longer looked at.
export interface Live {
  alive: boolean;
  onEnd: (act: () => void) => void;
  end: () => void;
  again: () => void; // make the view anew without moving the page
}
export type View = (rest: string, live: Live) => Promise<HTMLElement>;
