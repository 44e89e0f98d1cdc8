package io.millrace.bench.runner;

import java.util.List;

/**
 * What a line costs, as a sum: something once, something on each node that follows its room, something for each delivery.
 *
 * @param once for each line, wherever it goes
 * @param perNode for each node that follows
 * @param perDelivery for each member that gets it
 */
record Linear(double once, double perNode, double perDelivery) {
    /**
     * What was measured of one arrangement.
     *
     * @param nodes on how many nodes the room was
     * @param deliveries of a line, on all nodes together
     * @param value what it cost
     */
    record Point(double nodes, double deliveries, double value) {}

    double at(double nodes, double deliveries) {
        return once + perNode * nodes + perDelivery * deliveries;
    }

    double at(Point point) {
        return at(point.nodes, point.deliveries);
    }

    /** Without what is less than nothing by chance. */
    Linear notNegative() {
        return new Linear(Math.max(0, once), Math.max(0, perNode), Math.max(0, perDelivery));
    }

    /** The same, but for what each delivery costs: nothing. */
    static Linear fitWithoutDeliveries(List<Point> points) {
        return fit(points, 2);
    }

    static Linear fit(List<Point> points) {
        return fit(points, 3);
    }

    /**
     * The sum that comes nearest to all points: least squares of the relative errors, so that small rooms count as much as
     * large ones.
     *
     * @throws IllegalArgumentException if the points do not tell the terms apart
     */
    private static Linear fit(List<Point> points, int count) {
        double[][] system = new double[count][count + 1];
        for (Point point : points) {
            double[] row = {1, point.nodes, point.deliveries};
            for (int i = 0; i < count; i++) {
                for (int j = 0; j < count; j++) {
                    system[i][j] += row[i] * row[j] / (point.value * point.value);
                }
                system[i][count] += row[i] / point.value;
            }
        }
        double[] terms = solve(system);
        return new Linear(terms[0], terms[1], count > 2 ? terms[2] : 0);
    }

    /** Gauss and Jordan, with the largest pivot. */
    private static double[] solve(double[][] system) {
        int n = system.length;
        for (int i = 0; i < n; i++) {
            int pivot = i;
            for (int row = i + 1; row < n; row++) {
                if (Math.abs(system[row][i]) > Math.abs(system[pivot][i])) {
                    pivot = row;
                }
            }
            double[] swapped = system[pivot];
            system[pivot] = system[i];
            system[i] = swapped;
            double scale = 0;
            for (int j = 0; j < n; j++) {
                scale += Math.abs(system[i][j]);
            }
            if (!(Math.abs(swapped[i]) > 1e-9 * scale)) {
                throw new IllegalArgumentException(
                        "the measurements do not tell what a node costs from what a delivery does:"
                                + " it needs one node and two, with few members and with many");
            }
            for (int row = 0; row < n; row++) {
                double times = row == i ? 0 : system[row][i] / swapped[i];
                for (int j = i; j <= n; j++) {
                    system[row][j] -= times * swapped[j];
                }
            }
        }
        double[] solution = new double[n];
        for (int i = 0; i < n; i++) {
            solution[i] = system[i][n] / system[i][i];
        }
        return solution;
    }
}
