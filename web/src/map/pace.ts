// How much to draw while the map moves: all of it where the machine keeps up, a sample where it does not.

const SLOW = 32; // milliseconds from frame to frame above which less is drawn
const FAST = 20;
const LEAST = 0.06; // of the nodes
const STILL = 180; // milliseconds without a movement after which everything is drawn

export class Pace {
  private moving = false;
  private part = 1;
  private last = 0;
  private timer = 0;
  constructor(private readonly rest: () => void) {}

  move(): void {
    if (!this.moving) this.last = 0;
    this.moving = true;
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => {
      this.moving = false;
      this.rest();
    }, STILL);
  }

  /** The share of nodes for the frame that is drawn now. */
  share(): number {
    if (!this.moving) return 1;
    const now = performance.now();
    const took = this.last ? now - this.last : 0;
    this.last = now;
    if (took > SLOW && took < 1000) this.part = Math.max(LEAST, this.part * Math.max(0.3, SLOW / took));
    else if (took > 0 && took < FAST) this.part = Math.min(1, this.part * 1.25);
    return this.part;
  }
}
