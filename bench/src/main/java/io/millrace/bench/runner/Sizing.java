package io.millrace.bench.runner;

/**
 * What a service of a given size takes, by arithmetic with measured {@link Costs}.
 *
 * <p>The service is cut into as few cells as possible, each with an engine of its own and the nodes that use it; a room is in one
 * cell, and its members are spread evenly over that cell's nodes. In a cell:
 * <ul>
 *   <li>A line of a room with s members costs its node something once; every node that has members of the room something, which
 *       are n (1 − (1 − 1/n)^s) of n nodes; and its members' nodes something for each.
 *   <li>Who comes or goes is told to every node, and to the members of the room.
 *   <li>Nodes may be busy for {@link #BUSY} of their cores' time, and the engine for {@link #BUSY} of one core.
 * </ul>
 *
 * @param cells how many
 * @param nodes in each of them
 * @param linesPerSecond said in all of them together
 * @param deliveriesPerSecond in all of them together, of lines and of who comes and goes
 * @param nodeCores how many cores a node keeps busy
 * @param engineCores how many cores an engine keeps busy
 * @param nodeBytes memory of a node, without what the kernel has for its connections
 * @param followed rooms that a node follows
 * @param limit what does not fit if there is one cell less
 */
record Sizing(
        int cells,
        int nodes,
        double linesPerSecond,
        double deliveriesPerSecond,
        double nodeCores,
        double engineCores,
        double nodeBytes,
        double followed,
        String limit) {
    static final double BUSY = 0.6;
    private static final int MOST_NODES = 300;
    private static final int MOST_CELLS = 20_000;
    private static final double MICROS = 1e6;

    /**
     * What users do.
     *
     * @param users connected at a time, each in one room
     * @param room members of a room
     * @param linesPerMinute that each of them says
     * @param minutes for which somebody stays
     */
    record Service(double users, double room, double linesPerMinute, double minutes) {
        /** One of so many equal parts. */
        Service part(int cells) {
            return new Service(users / cells, room, linesPerMinute, minutes);
        }

        double lines() {
            return users * linesPerMinute / 60;
        }

        /** How many enter or leave in a second. */
        double changes() {
            return 2 * users / (minutes * 60);
        }

        double deliveries() {
            return (lines() + changes()) * room;
        }
    }

    /**
     * One machine.
     *
     * @param cores that a node has
     * @param bytes of memory that it has
     */
    record Machine(double cores, double bytes) {}

    /**
     * The fewest cells.
     *
     * @throws IllegalArgumentException if even a room by itself does not fit
     */
    static Sizing of(Costs costs, Service service, Machine machine) {
        String limit = "nothing";
        for (int cells = 1; cells <= MOST_CELLS; cells++) {
            Cell cell = Cell.of(costs, service.part(cells), machine);
            if (cell.limit.isEmpty()) {
                return new Sizing(
                        cells,
                        cell.nodes,
                        service.lines(),
                        service.deliveries(),
                        cell.nodeMicros / MICROS,
                        cell.engineMicros / MICROS,
                        cell.bytes,
                        cell.followed,
                        limit);
            }
            limit = cell.limit;
        }
        throw new IllegalArgumentException("no number of cells up to " + MOST_CELLS + " is enough: " + limit);
    }

    /** With the fewest nodes that are enough; or why no number of them is. */
    private record Cell(
            int nodes, double nodeMicros, double engineMicros, double bytes, double followed, String limit) {
        static Cell of(Costs costs, Service service, Machine machine) {
            for (int nodes = 1; nodes <= MOST_NODES; nodes++) {
                Cell cell = with(nodes, costs, service);
                if (cell.engineMicros > BUSY * MICROS) {
                    return cell.limitedBy("the engine"); // more nodes only make it worse
                }
                if (cell.nodeMicros <= BUSY * machine.cores * MICROS
                        && !(cell.bytes > machine.bytes)) { // NaN: not measured
                    return cell;
                }
            }
            Cell most = with(MOST_NODES, costs, service);
            return most.limitedBy(most.bytes > machine.bytes ? "the nodes' memory" : "following what the others say");
        }

        private Cell limitedBy(String what) {
            return new Cell(nodes, nodeMicros, engineMicros, bytes, followed, what);
        }

        private static Cell with(int nodes, Costs costs, Service service) {
            double rooms = Math.max(1, service.users / service.room);
            double spread = nodes * (1 - Math.pow(1 - 1.0 / nodes, service.room));
            double followed = rooms * spread / nodes;
            Linear node = costs.nodes().notNegative();
            Linear engineOf = costs.engine().notNegative();
            double follow = node.perNode() + Math.max(0, costs.roomOnNode()) * followed;
            double engineFollow = engineOf.perNode() + Math.max(0, costs.roomOnEngine()) * followed;
            double lines = service.lines();
            double changes = service.changes();
            double all = (lines + changes) * node.once()
                    + (lines * spread + changes * nodes) * follow
                    + service.deliveries() * node.perDelivery();
            double engine = (lines + changes) * engineOf.once() + (lines * spread + changes * nodes) * engineFollow;
            double bytes = costs.baseBytes()
                    + service.users / nodes * costs.memberBytes()
                    + service.users * (nodes - 1) / nodes * costs.strangerBytes();
            return new Cell(nodes, all / nodes, engine, bytes, followed, "");
        }
    }
}
