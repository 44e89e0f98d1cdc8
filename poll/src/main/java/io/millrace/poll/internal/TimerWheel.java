package io.millrace.poll.internal;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Deadlines of one thread: a hierarchical hashed wheel that never fires early, at most one tick
 * late, and in the order of the deadlines.
 *
 * <p>An entry <em>fires</em> at its deadline rounded up to the tick grid, which starts at
 * {@code startNanos}. {@link #advance} moves what has fired to the due queue, {@link #pollDue}
 * takes it from there; until then it is live, counts against the capacity and can be cancelled.
 * Times are those of {@link System#nanoTime}: any origin, compared by subtraction. A time before
 * the last advance counts as the last advance; delays beyond the last tick that 63 bits of
 * nanoseconds can express (292 years after the start) end there.
 *
 * <p>Only the owner's thread may call. Nothing here blocks, reads a clock or, once the wheel has
 * grown to its load, allocates. A full wheel refuses and stays as it was.
 *
 * <h2>How it works</h2>
 *
 * Level 0 has a slot per tick for the next {@code slots} ticks; a slot of level <i>n</i> spans
 * {@code slots}<sup><i>n</i></sup> ticks. An entry lives in the lowest level whose window, counted
 * in whole slots from the one that holds {@code elapsed}, reaches its tick. The windows slide:
 * whatever is due within {@code slots} ticks is in level 0 from the start and never moves down. When an upper slot's
 * first tick comes up its entries are linked anew, which puts each at least one level lower. Far
 * levels are made on first use. Bitmaps find the next occupied slot, so a stall of hours costs
 * what the entries cost, not the ticks.
 *
 * <p>Moving an entry later only stores the deadline. The old slot comes up, sees a deadline after its tick
 * and links the entry anew: a timeout that is pushed back on every packet costs one store each time
 * and one re-link per timeout.
 *
 * <h2>Invariants</h2>
 *
 * <ul>
 *   <li>I1: a linked entry's slot begins at or before its fire tick, or is the current slot if that tick has
 *       passed. So no entry is missed.
 *   <li>I2: the bound behind {@link #nanosUntilNext} ≤ every live fire time, and after
 *       {@code advance(now)} it is later than {@code now}. A cancel or a move may leave it too
 *       early, for one wake-up: the slot it belongs to is gone after that.
 *   <li>I3: in an upper level the slot that holds {@code elapsed} is empty, so an index names one
 *       slot of the window, and re-linking a slot never meets that slot again.
 *   <li>I4: an index is issued again only with a higher generation, and retired after the last one.
 *       So a stale key hits nothing, ever.
 * </ul>
 *
 * Never early: level 0 fires an entry in the slot of tick <i>t</i> only if its deadline ≤ <i>t</i>,
 * and <i>t</i> ≤ now. In order: slots come up by first tick, upper ones first among equals, so all
 * entries of tick <i>t</i> have reached its slot when it fires; their deadlines lie after those of
 * <i>t</i> − 1; and the slot sorts its own by deadline, then by insertion.
 */
public final class TimerWheel<T> {

    private static final int MIN_SLOTS = 64;
    private static final int MAX_SLOTS = 65_536;
    private static final int MAX_CAPACITY = 1 << 29;

    // An entry is four longs, so a cancel or a move usually touches one cache line. Chunks: growth never copies.
    private static final int CHUNK_BITS = 13;
    private static final int CHUNK_MASK = (1 << CHUNK_BITS) - 1;
    private static final int DEADLINE = 0;
    private static final int SEQUENCE = 1;
    private static final int GENERATION = 2;
    /** Slot (level and index, or one of the two below) in the high half, position there in the low. */
    private static final int PLACE = 3;

    private static final int IN_DUE = -1;
    private static final int IN_FREE = -2;

    private static final int NONE = -1;
    /** Below this an insertion sort wins. */
    private static final int SHORT_RUN = 24;

    private final long tickNanos;
    private final long startNanos;
    private final long lastDeadline;
    private final int capacity;
    private final int lastGeneration;
    private final int slots;
    private final int slotBits;

    private final Level ground;
    private final @Nullable Level[] levels;
    private final IdStacks stacks = new IdStacks();

    private long[][] cells = new long[0][];
    private @Nullable Object[][] values = new Object[0][];
    private int issued;
    private int free = IdStacks.EMPTY;
    private int size;
    private long nextSequence;

    /** Ids in firing order from head to tail; NONE where one was cancelled. */
    private int[] dueIds = new int[16];

    private long[] dueDeadlines = new long[16];
    private @Nullable Object[] dueValues = new Object[16];

    private int dueHead;
    private int dueTail;
    private int dueCount;

    /** The latest time seen by advance, from the start; {@code elapsed} is its tick. */
    private long lastNanos;

    private long elapsed;

    /**
     * An empty wheel.
     *
     * @param tickNanos the grain of time, at least 1
     * @param slots slots per level: rounded up to a power of two, at least 64, at most 65,536
     * @param capacity how many entries may be live at once, due ones included
     * @param startNanos the time now, and the origin of the tick grid
     * @throws IllegalArgumentException if one of them is out of range
     */
    public TimerWheel(long tickNanos, int slots, int capacity, long startNanos) {
        this(tickNanos, slots, capacity, startNanos, Integer.MAX_VALUE);
    }

    /** For tests, which cannot wait for 2³¹ reuses of an index. */
    TimerWheel(long tickNanos, int slots, int capacity, long startNanos, int lastGeneration) {
        requireInRange("tickNanos", tickNanos, Long.MAX_VALUE, "time has to move");
        requireInRange("slots", slots, MAX_SLOTS, "more would only cost memory: far entries have levels");
        requireInRange("capacity", capacity, MAX_CAPACITY, "keys hold the index of an entry in an int");
        this.tickNanos = tickNanos;
        this.startNanos = startNanos;
        this.lastDeadline = Long.MAX_VALUE / tickNanos * tickNanos;
        this.capacity = capacity;
        this.lastGeneration = lastGeneration;
        this.slotBits = Integer.SIZE - Integer.numberOfLeadingZeros(Math.max(MIN_SLOTS, slots) - 1);
        this.slots = 1 << slotBits;
        this.ground = new Level(this.slots, 0);
        this.levels = new Level[Math.ceilDiv(Long.SIZE - 1, slotBits)];
        this.levels[0] = ground;
    }

    private static void requireInRange(String name, long value, long max, String why) {
        if (value < 1 || value > max) {
            throw new IllegalArgumentException(
                    "cannot build a timer wheel: %s is %,d, must be 1 to %,d (%s)".formatted(name, value, max, why));
        }
    }

    /**
     * Fires {@code value} at {@code nowNanos + delayNanos}, rounded up to the tick. A negative delay
     * counts as zero.
     *
     * @return the key, never negative and never issued twice
     * @throws IllegalStateException if the wheel is full; nothing has changed
     */
    public long schedule(long nowNanos, long delayNanos, T value) {
        Objects.requireNonNull(value, "value");
        if (size == capacity) {
            throw new IllegalStateException(
                    "cannot schedule: all %,d entries of the timer wheel are live. Poll what is due, cancel, or raise the capacity."
                            .formatted(capacity));
        }
        long deadline = deadline(nowNanos, delayNanos);
        int id = takeId();
        long[] chunk = chunk(id);
        int cell = cell(id);
        chunk[cell + DEADLINE] = deadline;
        chunk[cell + SEQUENCE] = nextSequence++;
        values[id >>> CHUNK_BITS][id & CHUNK_MASK] = value;
        size++;
        link(id, tick(deadline));
        return chunk[cell + GENERATION] << Integer.SIZE | id;
    }

    /** Ends the entry of {@code key}: its value, or null if it is not live. Any long is safe. */
    public @Nullable T cancel(long key) {
        int id = find(key);
        if (id == NONE) {
            return null;
        }
        long place = chunk(id)[cell(id) + PLACE];
        if (slot(place) == IN_DUE) {
            release(id);
            return takeDue((int) place);
        }
        unlink(place);
        Object[] from = values[id >>> CHUNK_BITS];
        @SuppressWarnings("unchecked")
        T value = (T) from[id & CHUNK_MASK];
        from[id & CHUNK_MASK] = null;
        release(id);
        return value;
    }

    /**
     * Gives the entry of {@code key} a new deadline, {@code nowNanos + delayNanos}, and the place in
     * the order of one scheduled now.
     *
     * @return false, with nothing changed, if it is due already or not live
     */
    public boolean reschedule(long key, long nowNanos, long delayNanos) {
        int id = find(key);
        if (id == NONE) {
            return false;
        }
        long[] chunk = chunk(id);
        int cell = cell(id);
        long place = chunk[cell + PLACE];
        if (slot(place) == IN_DUE) {
            return false;
        }
        long before = chunk[cell + DEADLINE];
        long deadline = deadline(nowNanos, delayNanos);
        chunk[cell + DEADLINE] = deadline;
        chunk[cell + SEQUENCE] = nextSequence++;
        if (deadline < before) {
            unlink(place);
            link(id, tick(deadline));
        }
        return true;
    }

    /**
     * Moves what has fired by {@code nowNanos} to the due queue.
     *
     * @return how many are due and not yet polled, those of earlier calls included
     */
    public int advance(long nowNanos) {
        lastNanos = Math.max(lastNanos, nowNanos - startNanos);
        long target = lastNanos / tickNanos;
        while (size > dueCount) {
            Level next = ground;
            long first = NONE;
            for (Level level : levels) {
                long begins = level == null ? NONE : level.firstTick(elapsed);
                // <=: of those that begin together the highest first, it may feed the others.
                if (begins != NONE && (begins <= first || first == NONE)) {
                    next = level;
                    first = begins;
                }
            }
            if (first > target) {
                break;
            }
            elapsed = first;
            if (next == ground) {
                fire();
            } else {
                cascade(next);
            }
        }
        elapsed = target;
        assert size == dueCount || earliestTick() > target : "I2";
        return dueCount;
    }

    /** The next due value, in firing order, or null. Its key is dead from here on. */
    public @Nullable T pollDue() {
        if (dueCount == 0) {
            return null;
        }
        while (dueValues[dueHead] == null) {
            dueHead++;
        }
        int head = dueHead++;
        release(dueIds[head]);
        return takeDue(head);
    }

    /** How many are due and not yet polled. */
    public int dueCount() {
        return dueCount;
    }

    public boolean hasDue() {
        return dueCount > 0;
    }

    /** How many entries are live, due ones included. */
    public int size() {
        return size;
    }

    public boolean isEmpty() {
        return size == 0;
    }

    /**
     * How long until something more is due: {@link Long#MAX_VALUE} if all that is live is due already, else the time to the earliest
     * fire time, 0 if it has come. After a cancel or a move it may be less than that, once.
     */
    public long nanosUntilNext(long nowNanos) {
        if (size == dueCount) {
            return Long.MAX_VALUE;
        }
        return Math.max(0, earliestTick() * tickNanos - Math.max(lastNanos, nowNanos - startNanos));
    }

    /** Ends every entry. Their keys are dead; the time stays. */
    public void clear() {
        for (int id = 0; id < issued && size > 0; id++) {
            long place = chunk(id)[cell(id) + PLACE];
            if (slot(place) != IN_FREE) {
                if (slot(place) >= 0) {
                    unlink(place);
                }
                release(id);
            }
        }
        dueHead = dueTail = dueCount = 0;
    }

    // --- Time, in nanoseconds and ticks from the start ---

    /** May lie in the past, even before the start; never after the last tick. */
    private long deadline(long nowNanos, long delayNanos) {
        long now = nowNanos - startNanos;
        long deadline = now + Math.max(0, delayNanos);
        return deadline < now ? lastDeadline : Math.min(deadline, lastDeadline);
    }

    /** Where to link: the fire tick, rounded up, or the current one if that has passed. */
    private long tick(long deadline) {
        return deadline <= 0 ? elapsed : Math.max(elapsed, (deadline - 1) / tickNanos + 1);
    }

    private long earliestTick() {
        long earliest = Long.MAX_VALUE;
        for (Level level : levels) {
            if (level != null) {
                earliest = Math.min(earliest, level.earliestTick(elapsed));
            }
        }
        return earliest;
    }

    // --- Slots ---

    private void link(int id, long tick) {
        assert tick >= elapsed;
        int number = 0;
        int shift = 0;
        while ((tick >>> shift) - (elapsed >>> shift) >= slots) {
            number++;
            shift += slotBits;
        }
        Level level = levels[number];
        if (level == null) {
            level = levels[number] = new Level(slots, shift);
        }
        int index = (int) (tick >>> shift) & (slots - 1);
        assert number == 0 || index != ((int) (elapsed >>> shift) & (slots - 1)) : "I3";
        int top = level.tops[index];
        if (top == IdStacks.EMPTY) {
            level.occupied.set(index);
        }
        if (level != ground && (top == IdStacks.EMPTY || tick < level.earliest[index])) {
            level.earliest[index] = tick;
        }
        top = stacks.push(top, id);
        level.tops[index] = top;
        setPlace(id, number << slotBits | index, top);
    }

    /** Fills the hole with the slot's last id. Does not raise the slot's bound: I2 allows that. */
    private void unlink(long place) {
        Level level = Objects.requireNonNull(levels[slot(place) >>> slotBits]);
        int index = slot(place) & (slots - 1);
        int position = (int) place;
        int top = level.tops[index];
        if (position != top) {
            int last = stacks.get(top);
            stacks.set(position, last);
            setPlace(last, slot(place), position);
        }
        top = stacks.pop(top);
        level.tops[index] = top;
        if (top == IdStacks.EMPTY) {
            level.occupied.clear(index);
        }
    }

    private void cascade(Level level) {
        for (int top = level.take(elapsed); top != IdStacks.EMPTY; ) {
            int id = stacks.get(top);
            top = stacks.pop(top);
            link(id, tick(chunk(id)[cell(id) + DEADLINE]));
        }
    }

    private void fire() {
        long time = elapsed * tickNanos;
        int top = ground.take(elapsed);
        int count = stacks.depth(top);
        makeRoomForDue(count);
        // One small loop per kind of memory, so that the processor overlaps the cache misses of many
        // entries.
        stacks.drain(top, dueIds, dueTail + count);
        int end = dueTail + count;
        boolean sorted = true;
        long latest = Long.MIN_VALUE, before = Long.MIN_VALUE;
        for (int i = dueTail; i < end; i++) {
            long deadline = chunk(dueIds[i])[cell(dueIds[i]) + DEADLINE];
            dueDeadlines[i] = deadline;
            sorted &= deadline > before;
            before = deadline;
            latest = Math.max(latest, deadline);
        }
        if (latest > time) {
            end = relinkMoved(time, end);
        }
        if (!sorted) {
            sortDue(dueTail, end);
        }
        for (int i = dueTail; i < end; i++) {
            int id = dueIds[i];
            setPlace(id, IN_DUE, i);
            Object[] from = values[id >>> CHUNK_BITS];
            dueValues[i] = from[id & CHUNK_MASK];
            from[id & CHUNK_MASK] = null;
        }
        dueCount += end - dueTail;
        dueTail = end;
    }

    // --- The due queue ---

    private int relinkMoved(long time, int taken) {
        int end = dueTail;
        for (int i = dueTail; i < taken; i++) {
            if (dueDeadlines[i] > time) {
                link(dueIds[i], tick(dueDeadlines[i]));
            } else {
                copyDue(i, end++);
            }
        }
        return end;
    }

    private T takeDue(int position) {
        @SuppressWarnings("unchecked")
        T value = (T) Objects.requireNonNull(dueValues[position]);
        dueValues[position] = null;
        if (--dueCount == 0) {
            dueHead = dueTail = 0;
        }
        return value;
    }

    private void copyDue(int from, int to) {
        dueIds[to] = dueIds[from];
        dueDeadlines[to] = dueDeadlines[from];
    }

    /** Closes the gaps, and grows only if that would leave it more than half full: amortised O(1). */
    private void makeRoomForDue(int count) {
        if (dueTail + count <= dueIds.length) {
            return;
        }
        int needed = dueCount + count;
        int tail = 0;
        for (int i = dueHead; i < dueTail; i++) {
            Object value = dueValues[i];
            if (value != null) {
                dueValues[i] = null;
                dueValues[tail] = value;
                dueIds[tail] = dueIds[i];
                setPlace(dueIds[i], IN_DUE, tail++);
            }
        }
        dueHead = 0;
        dueTail = tail;
        if (needed > dueIds.length >>> 1) {
            dueIds = Arrays.copyOf(dueIds, needed * 2);
            dueDeadlines = new long[needed * 2];
            dueValues = Arrays.copyOf(dueValues, needed * 2);
        }
    }

    private void sortDue(int from, int to) {
        for (int i = from + 1; i < to; i++) {
            int id = dueIds[i];
            long deadline = dueDeadlines[i];
            int hole = i;
            for (; hole > from && firesBefore(deadline, id, hole - 1); hole--) {
                copyDue(hole - 1, hole);
            }
            dueIds[hole] = id;
            dueDeadlines[hole] = deadline;
        }
    }

    private boolean firesBefore(long deadline, int id, int other) {
        return deadline < dueDeadlines[other]
                || (deadline == dueDeadlines[other] && sequence(id) < sequence(dueIds[other]));
    }

    private long sequence(int id) {
        return chunk(id)[cell(id) + SEQUENCE];
    }

    // --- Entries ---

    private long[] chunk(int id) {
        return cells[id >>> CHUNK_BITS];
    }

    private static int cell(int id) {
        return (id & CHUNK_MASK) << 2;
    }

    private static int slot(long place) {
        return (int) (place >> Integer.SIZE);
    }

    private void setPlace(int id, int slot, int position) {
        chunk(id)[cell(id) + PLACE] = (long) slot << Integer.SIZE | (position & 0xFFFF_FFFFL);
    }

    private int find(long key) {
        int id = (int) key;
        if (id < 0 || id >= issued) {
            return NONE;
        }
        long[] chunk = chunk(id);
        int cell = cell(id);
        boolean live = chunk[cell + GENERATION] == key >> Integer.SIZE && slot(chunk[cell + PLACE]) != IN_FREE;
        return live ? id : NONE;
    }

    private int takeId() {
        int id = free;
        if (free != IdStacks.EMPTY) {
            id = stacks.get(free);
            free = stacks.pop(free);
            return id;
        }
        int chunk = issued >>> CHUNK_BITS;
        if ((issued & CHUNK_MASK) == 0) {
            if (chunk == cells.length) {
                cells = Arrays.copyOf(cells, Math.max(4, chunk * 2));
                values = Arrays.copyOf(values, cells.length);
            }
            cells[chunk] = new long[4 << CHUNK_BITS];
            values[chunk] = new Object[1 << CHUNK_BITS];
        }
        return issued++;
    }

    /** Ends an entry that is in no slot and not due. */
    private void release(int id) {
        size--;
        // I4: an index out of generations is not used again. It costs 40 bytes every 2^31 entries.
        long[] chunk = chunk(id);
        int cell = cell(id);
        setPlace(id, IN_FREE, 0);
        if (chunk[cell + GENERATION] < lastGeneration) {
            chunk[cell + GENERATION]++;
            free = stacks.push(free, id);
        }
    }

    /** One ring of slots, each spanning {@code 1 << shift} ticks. */
    private static final class Level {

        private final int shift;
        private final int mask;
        private final int[] tops;
        private final SlotBitmap occupied;
        /** Per slot a lower bound of its fire ticks. In level 0 the slot is the tick. */
        private final long[] earliest;

        Level(int slots, int shift) {
            this.shift = shift;
            this.mask = slots - 1;
            this.tops = new int[slots];
            this.occupied = new SlotBitmap(slots);
            this.earliest = new long[shift == 0 ? 0 : slots];
        }

        /** The tick with which the next occupied slot begins, or NONE. */
        long firstTick(long elapsed) {
            long current = elapsed >>> shift;
            int index = occupied.next((int) current & mask);
            return index < 0 ? NONE : (current + ((index - (int) current) & mask)) << shift;
        }

        /** A lower bound of the fire ticks in this level; Long.MAX_VALUE if it is empty. */
        long earliestTick(long elapsed) {
            if (shift == 0) {
                long tick = firstTick(elapsed);
                return tick == NONE ? Long.MAX_VALUE : tick;
            }
            int index = occupied.next((int) (elapsed >>> shift) & mask);
            return index < 0 ? Long.MAX_VALUE : earliest[index];
        }

        /** Empties the slot that begins now. */
        int take(long elapsed) {
            int index = (int) (elapsed >>> shift) & mask;
            int top = tops[index];
            tops[index] = IdStacks.EMPTY;
            occupied.clear(index);
            return top;
        }
    }
}
