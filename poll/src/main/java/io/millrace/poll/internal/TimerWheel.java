package io.millrace.poll.internal;

import static io.millrace.poll.internal.TimerEntries.DUE;
import static io.millrace.poll.internal.TimerEntries.NONE;

import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The deadlines of one thread: a hierarchical hashed wheel that is never early, at most one tick late, and in order.
 *
 * <p>An entry <em>fires</em> at its deadline, rounded up to the tick grid that begins at {@code startNanos}. {@link
 * #advance} makes entries due that have fired by then: by deadline and, among equals, in the order of insertion. {@link
 * #pollDue} takes them. Until then an entry is live, counts against the capacity and can be cancelled. Times are those
 * of {@link System#nanoTime}: any origin, compared by subtraction. Time does not run backwards: {@code advance} and
 * {@code nanosUntilNext} take a time before the last advance for that of the last advance. A deadline more than 2⁶³ ns
 * (292 years) after the start fires at the last tick before that.
 *
 * <p>Only the owner's thread may call. Nothing here blocks, reads a clock or, once grown to its load, allocates. If the
 * wheel is full, {@code schedule} fails and changes nothing.
 *
 * <h2>How it works</h2>
 *
 * Level 0 has a slot for each of the next ticks, level 1 for each of the next {@code slots}-fold ticks, and so on. An
 * entry is in the lowest level whose slots, counted from the one that holds the current tick, reach as far as its tick.
 * So what fires within {@code slots} ticks is in level 0 and stays there; when the first tick of an upper slot comes
 * up, its entries are linked again, and thereby lower. Levels are created at the first use. Bitmaps find the next
 * occupied slot, so the cost of a stall of hours depends on its entries, not its ticks.
 *
 * <p>Moving an entry to a later time only stores the deadline. When its slot comes up, the wheel finds that the
 * deadline lies ahead, and links the entry again: a timeout that every packet postpones costs a store per packet and
 * one link per timeout.
 *
 * <p>An advance can be made in steps, each bounded by the entries it touches (end-5). Between two steps every entry is
 * in a slot or due, so all operations work as usual. An upper slot is emptied from its top, and the current tick stays
 * that of the slot until nothing is left in it. A tick with more entries than are sorted at once is split into smaller
 * slots ({@link TimerSplit}); entries that arrive for a tick while it is being split wait in a separate slot, which is
 * the next to fire. Nothing is ever copied as a whole: entries and slots are in chunks, and the entries that are due
 * form a list through the entries.
 *
 * <h2>Why it is right</h2>
 *
 * <ul>
 *   <li>I1: the slot of an entry begins at or before the tick the entry fires at, or is the current one of level 0 if
 *       that tick has passed. So none is missed.
 *   <li>I2: the bound of {@link #nanosUntilNext} is at or before every fire time to come, and after {@code
 *       advance(now)} it is after {@code now}, or the wheel is behind and the wait is 0. A cancel or a move can leave it
 *       too early by itself, once: when it is reached, its slot is emptied.
 *   <li>I3: in an upper level nothing is ever put into the slot that holds the current tick; it is empty, or being emptied
 *       because that tick is its first. So an index stands for one slot, not for that of the next round too, and linking
 *       the entries of a slot again never puts one back.
 *   <li>I4: a key is issued once. See {@link TimerEntries}.
 * </ul>
 *
 * Never early: an entry becomes due in a slot of level 0 whose time is at or after its deadline, and at or before now.
 * In order: slots come up by their first tick and, among equals, the highest level first. So when a tick fires, all its
 * entries are in its slot, and all their deadlines are after those of the previous tick; {@link TimerBatch} sorts them,
 * after {@link TimerSplit} if there are many.
 *
 * @param <T> the type of the values
 */
public final class TimerWheel<T> {
    private static final int MIN_BITS = 6;
    private static final int MIN_SLOTS = 1 << MIN_BITS;
    private static final int MAX_SLOTS = 65_536;
    /** Positions in {@link IdStacks} are ints. */
    private static final int MAX_CAPACITY = 1 << 29;
    /** How many entries are sorted and fired at once, at most. */
    private static final int STEP = 4_096;

    private final long tickNanos;
    private final long startNanos;
    private final long lastDeadline;
    private final int capacity;
    private final int step;
    private final int slotBits;
    private final int slotMask;

    private final TimerLevel ground;
    /**
     * By number: the levels of the wheel, then the parts of the split, then the late entries. Created at the first use.
     */
    private final @Nullable TimerLevel[] levels;

    private final int levelCount;
    private final int lateNumber;
    private @Nullable TimerSplit split;
    /** Whether the split is open, or has left late entries behind, which come first then. */
    private boolean splitting;

    private final IdStacks stacks = new IdStacks();
    private final TimerEntries<T> entries;
    private final TimerBatch<T> batch;
    private final DueQueue<T> due;

    /** The latest time passed to advance, relative to the start. */
    private long lastNanos;
    /** The current tick: that of lastNanos or, during an advance, of the slot whose turn it is. */
    private long elapsed;
    /** Whether the last advance had to stop before it was done. */
    private boolean behind;
    /** How many entries advances have touched; an entry that is touched twice counts twice. */
    private long work;

    /**
     * Creates an empty wheel.
     *
     * @param tickNanos how late an entry may be, at least 1
     * @param slots slots per level, 1 to 65,536; rounded up to a power of two that is at least 64
     * @param capacity how many entries may be live at a time, 1 to 2²⁹
     * @param startNanos the current time
     * @throws IllegalArgumentException if one of them is out of range
     */
    public TimerWheel(long tickNanos, int slots, int capacity, long startNanos) {
        this(tickNanos, slots, capacity, startNanos, Integer.MAX_VALUE, STEP);
    }

    /** For tests, which cannot use an entry 2³¹ times, and which split small slots, too. */
    TimerWheel(long tickNanos, int slots, int capacity, long startNanos, int lastGeneration, int step) {
        requireInRange("tickNanos", tickNanos, Long.MAX_VALUE, "a tick is a span of time");
        requireInRange("slots", slots, MAX_SLOTS, "what is further away has levels of its own");
        requireInRange("capacity", capacity, MAX_CAPACITY, "entries are numbered by an int");
        this.tickNanos = tickNanos;
        this.startNanos = startNanos;
        this.lastDeadline = Long.MAX_VALUE / tickNanos * tickNanos;
        this.capacity = capacity;
        this.step = step;
        this.slotBits = Integer.SIZE - Integer.numberOfLeadingZeros(Math.max(MIN_SLOTS, slots) - 1);
        this.slotMask = (1 << slotBits) - 1;
        this.ground = new TimerLevel(slotBits, 0);
        this.levelCount = Math.ceilDiv(Long.SIZE - 1, slotBits);
        this.lateNumber = levelCount + TimerSplit.maxParts(slotBits);
        this.levels = new TimerLevel[lateNumber + 1];
        this.levels[0] = ground;
        this.entries = new TimerEntries<>(lastGeneration);
        this.batch = new TimerBatch<>(entries);
        this.due = new DueQueue<>(entries);
    }

    private static void requireInRange(String what, long value, long max, String why) {
        if (value < 1 || value > max) {
            throw new IllegalArgumentException(
                    "cannot make a timer wheel: " + what + " is " + value + ", not 1 to " + max + " (" + why + ")");
        }
    }

    /**
     * Adds an entry with the deadline {@code nowNanos + delayNanos}.
     *
     * @param nowNanos the current time
     * @param delayNanos a negative delay counts as 0
     * @param value what {@link #pollDue} will return
     * @return its key, which is not negative and never used again
     * @throws IllegalStateException if the wheel is full; then nothing has changed
     */
    public long schedule(long nowNanos, long delayNanos, T value) {
        Objects.requireNonNull(value, "value");
        if (entries.live() == capacity) {
            throw new IllegalStateException("cannot schedule: the timer wheel is full, with " + capacity
                    + " live entries. Poll what is due, cancel some, or give it a greater capacity.");
        }
        long deadline = deadline(nowNanos, delayNanos);
        int id = entries.add(value, deadline);
        link(id, deadline);
        return entries.key(id);
    }

    /**
     * Removes an entry, even one that is due.
     *
     * @param key any number
     * @return its value; null if no live entry has this key
     */
    public @Nullable T cancel(long key) {
        int id = entries.find(key);
        return id == NONE ? null : end(id);
    }

    /**
     * Gives an entry the deadline {@code nowNanos + delayNanos}; among equal deadlines it is now the last.
     *
     * @param key any number
     * @param nowNanos the current time
     * @param delayNanos a negative delay counts as 0
     * @return false if no live entry has this key or it is due; then nothing has changed
     */
    public boolean reschedule(long key, long nowNanos, long delayNanos) {
        int id = entries.find(key);
        if (id == NONE || entries.slot(id) == DUE) {
            return false;
        }
        long before = entries.deadline(id);
        long deadline = deadline(nowNanos, delayNanos);
        entries.setDeadline(id, deadline);
        if (deadline < before || isOfSplit(id, deadline)) {
            unlink(id);
            link(id, deadline);
        }
        return true;
    }

    /**
     * Makes due what has fired by now.
     *
     * @param nowNanos the current time
     * @return how many entries are due, including those of earlier calls that have not been polled
     */
    public int advance(long nowNanos) {
        return advance(nowNanos, Long.MAX_VALUE);
    }

    /**
     * Makes due what has fired by now, or the first of it: stops when it has touched {@code budget} entries, or fewer
     * than 4,096 more. The next call continues from there. The order is the same as that of a single advance; an entry
     * that is added or moved between two calls and has already fired takes its place in this order, or follows the tick
     * that is being fired.
     *
     * @param nowNanos the current time
     * @param budget how many entries it may touch; at least 1
     * @return how many entries are due, including those of earlier calls that have not been polled; {@link #isBehind}
     *     says whether there are more to come
     */
    public int advance(long nowNanos, long budget) {
        lastNanos = sinceStart(nowNanos);
        behind = !advanceTo(lastNanos / tickNanos, work + Math.min(budget, Long.MAX_VALUE - work));
        return due.count();
    }

    /** Returns whether it reached {@code now} before the work reached its end. */
    private boolean advanceTo(long now, long end) {
        while (entries.live() > due.count()) {
            if (splitting) {
                if (work >= end) {
                    return false;
                }
                goOn(Objects.requireNonNull(split), end);
                continue;
            }
            TimerLevel next = ground;
            long first = Long.MAX_VALUE;
            for (int number = 0; number < levelCount; number++) {
                TimerLevel level = levels[number];
                long begins = level == null ? NONE : level.firstTick(elapsed);
                // If several begin together, take the highest: it may have entries for the others.
                if (level != null && begins != NONE && begins <= first) {
                    next = level;
                    first = begins;
                }
            }
            if (first > now) {
                break;
            }
            if (work >= end) {
                return false;
            }
            elapsed = first;
            if (next == ground) {
                fireOrSplit(ground, ground.index(elapsed));
            } else {
                cascade(next, end);
            }
        }
        if (splitting) {
            Objects.requireNonNull(split).close();
            splitting = false;
        }
        elapsed = now;
        assert entries.live() == due.count() || earliestTick() > now : "I2";
        return true;
    }

    /**
     * Returns whether the last {@link #advance(long, long)} had to stop early. Then the wait is 0, and the next call
     * continues.
     *
     * @return whether there is work left
     */
    public boolean isBehind() {
        return behind;
    }

    /** Returns how many entries all advances have touched. For tests. */
    long work() {
        return work;
    }

    /** Returns the current tick. For tests. */
    long tick() {
        return elapsed;
    }

    /** Returns the values that are due, in order. For tests. */
    List<T> due() {
        return due.values();
    }

    /**
     * Removes the next entry that is due.
     *
     * @return its value; null if none is due
     */
    public @Nullable T pollDue() {
        return due.poll();
    }

    /**
     * Returns whether {@link #pollDue} has something to return.
     *
     * @return whether an entry is due
     */
    public boolean hasDue() {
        return due.count() > 0;
    }

    /**
     * Returns how many entries are due and not yet polled.
     *
     * @return the number of entries that are due
     */
    public int dueCount() {
        return due.count();
    }

    /**
     * Returns how many entries are live, including those that are due.
     *
     * @return the number of entries
     */
    public int size() {
        return entries.live();
    }

    /**
     * Returns whether no entry is live.
     *
     * @return whether the size is 0
     */
    public boolean isEmpty() {
        return entries.live() == 0;
    }

    /**
     * Returns how long it takes until {@link #advance} makes something else due. After a cancel or a move the result
     * may be too short, once.
     *
     * @param nowNanos the current time
     * @return the time to the earliest fire time; 0 if that has come; {@link Long#MAX_VALUE} if everything that is live
     *     is already due
     */
    public long nanosUntilNext(long nowNanos) {
        if (entries.live() == due.count()) {
            return Long.MAX_VALUE;
        }
        return behind ? 0 : Math.max(0, earliestTick() * tickNanos - sinceStart(nowNanos));
    }

    /**
     * Passes on every live value, in no particular order. For reports; another thread may call this, and may miss what
     * changes meanwhile.
     *
     * @param each receives the values
     */
    public void forEach(Consumer<? super T> each) {
        for (int id = 0; id < entries.bound(); id++) {
            T value = entries.value(id);
            if (value != null) {
                each.accept(value);
            }
        }
    }

    /** Removes every entry. */
    public void clear() {
        for (int id = 0; !isEmpty(); id++) {
            if (entries.isLive(id)) {
                end(id);
            }
        }
    }

    /** Returns the time since the start, but not before the last advance. */
    private long sinceStart(long nowNanos) {
        return Math.max(lastNanos, nowNanos - startNanos);
    }

    /**
     * Returns the deadline relative to the start. It can be in the past, and even before the start, because the
     * caller's time may be old.
     */
    private long deadline(long nowNanos, long delayNanos) {
        long now = nowNanos - startNanos;
        long deadline = now + Math.max(0, delayNanos);
        return deadline < now ? lastDeadline : Math.min(deadline, lastDeadline);
    }

    private long earliestTick() {
        long earliest = Long.MAX_VALUE;
        for (int number = 0; number < levelCount; number++) {
            TimerLevel level = levels[number];
            if (level != null) {
                earliest = Math.min(earliest, level.earliestTick(elapsed));
            }
        }
        return earliest;
    }

    /**
     * Returns whether a move has to unlink the entry even if it moves to a later time: out of a split, where its place
     * depends on the deadline, or behind one, like everything that arrives meanwhile.
     */
    private boolean isOfSplit(int id, long deadline) {
        return splitting && (entries.slot(id) >>> slotBits >= levelCount || deadline <= elapsed * tickNanos);
    }

    private T end(int id) {
        if (entries.slot(id) == DUE) {
            return due.remove(id);
        }
        unlink(id);
        T value = entries.takeValue(id);
        entries.remove(id);
        return value;
    }

    private void link(int id, long deadline) {
        // Rounded up: the wheel may be late, not early. I1: if it has passed, use the current tick, which is next.
        long tick = deadline <= 0 ? elapsed : Math.max(elapsed, (deadline - 1) / tickNanos + 1);
        assert deadline <= tick * tickNanos : "early";
        if (tick == elapsed && splitting && split != null && split.isOf(ground)) {
            // That slot is being split. Entries that are added as fast as it is emptied must not keep it from firing.
            push(id, lateNumber, late(), 0);
            return;
        }
        int number = 0;
        int shift = 0;
        while ((tick >>> shift) - (elapsed >>> shift) > slotMask) {
            number++;
            shift += slotBits;
        }
        TimerLevel level = level(number, shift);
        int index = level.index(tick);
        assert level == ground || index != level.index(elapsed) : "I3";
        level.lowerBoundTo(index, tick);
        push(id, number, level, index);
    }

    private TimerLevel level(int number, int shift) {
        TimerLevel level = levels[number];
        if (level == null) {
            level = new TimerLevel(slotBits, shift);
            levels[number] = level;
        }
        return level;
    }

    private TimerLevel late() {
        TimerLevel late = levels[lateNumber];
        if (late == null) {
            late = new TimerLevel(MIN_BITS, 0);
            levels[lateNumber] = late;
        }
        return late;
    }

    private void push(int id, int number, TimerLevel level, int index) {
        int top = stacks.push(level.top(index), id);
        level.setTop(index, top);
        entries.setPlace(id, number << slotBits | index, top);
    }

    /** Moves the slot's last entry to the place of this one. The slot's bound stays, which I2 allows. */
    private void unlink(int id) {
        int slot = entries.slot(id);
        TimerLevel level = Objects.requireNonNull(levels[slot >>> slotBits]);
        int index = slot & slotMask;
        int top = level.top(index);
        int position = entries.position(id);
        if (position != top) {
            int last = stacks.get(top);
            stacks.set(position, last);
            entries.setPlace(last, slot, position);
        }
        level.setTop(index, stacks.pop(top));
    }

    /** Fires a slot of the current tick, or begins to split it if it holds too many entries. */
    private void fireOrSplit(TimerLevel level, int index) {
        int depth = stacks.depth(level.top(index), step);
        if (depth <= step) {
            fire(level, index, depth);
            return;
        }
        if (split == null) {
            split = new TimerSplit(slotBits, levelCount);
        }
        long time = elapsed * tickNanos;
        split.begin(level, index, time - tickNanos + 1, time);
        splitting = true;
    }

    /** Makes due what a slot of the current tick holds, and links again what was moved out of it. */
    private void fire(TimerLevel level, int index, int depth) {
        batch.take(stacks, level.take(index), depth);
        int fired = batch.sort(elapsed * tickNanos);
        due.append(batch, fired);
        // From the end, where the first of them is.
        for (int i = batch.taken() - 1; i >= fired; i--) {
            link(batch.lateId(i), batch.lateDeadline(i));
        }
        work += depth;
    }

    /**
     * Performs the next step of a split: puts entries into the last part, or fires, splits or leaves a slot of it; at
     * the end, the late entries.
     */
    private void goOn(TimerSplit split, long end) {
        if (!split.isOpen()) {
            TimerLevel late = levels[lateNumber];
            if (late == null || late.isEmpty(0)) {
                splitting = false;
            } else {
                fireOrSplit(late, 0);
            }
            return;
        }
        if (!split.source().isEmpty(split.sourceIndex())) {
            spread(split, end);
            return;
        }
        TimerLevel slots = split.slots();
        int index = slots.firstOccupied();
        if (index < 0) {
            split.closeLast();
            return;
        }
        int depth = stacks.depth(slots.top(index), step);
        if (depth <= step) {
            fire(slots, index, depth);
        } else {
            split.splitFurther(index);
        }
    }

    private void spread(TimerSplit split, long end) {
        TimerLevel source = split.source();
        TimerLevel slots = split.slots();
        int number = split.number();
        levels[number] = slots;
        long time = elapsed * tickNanos;
        int top = source.top(split.sourceIndex());
        long done = work;
        for (; top != IdStacks.EMPTY && done < end; done++) {
            int id = stacks.get(top);
            top = stacks.pop(top);
            long deadline = entries.deadline(id);
            if (deadline > time) {
                link(id, deadline);
            } else {
                push(id, number, slots, split.place(deadline, entries.sequence(id)));
            }
        }
        source.setTop(split.sourceIndex(), top);
        work = done;
    }

    private void cascade(TimerLevel level, long end) {
        int index = level.index(elapsed);
        int top = level.top(index);
        long done = work;
        for (; top != IdStacks.EMPTY && done < end; done++) {
            int id = stacks.get(top);
            top = stacks.pop(top);
            link(id, entries.deadline(id));
        }
        level.setTop(index, top);
        work = done;
    }
}
