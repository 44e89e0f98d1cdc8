package io.millrace.architecture;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.library.Architectures.LayeredArchitecture;
import com.tngtech.archunit.library.Architectures.LayeredArchitecture.LayerDependencySpecification;
import java.io.IOException;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The arrows of {@code docs/architecture.md}, where a {@code module-info} does not already enforce them: on the class
 * path there are no modules, and a module may use more of another than the drawing allows.
 *
 * <p>A new module gets a line in {@link #MAY_USE} and a dependency in this module's pom; until it has both,
 * one of these tests fails.
 */
class ArchitectureTest {
    private static final Map<String, List<String>> MAY_USE = Map.ofEntries(
            entry("sys", List.of()),
            entry("poll", List.of("sys")),
            entry("net", List.of("poll", "sys")),
            entry("task", List.of("poll")),
            entry("engine", List.of("task", "net", "poll", "sys")),
            entry("server", List.of("engine", "task", "net", "poll")),
            entry("netty", List.of("engine", "task", "net", "poll")),
            entry("testkit", List.of("server", "engine", "task", "net", "poll")),
            entry("examples", List.of("server", "engine", "task", "net", "poll")),
            entry("console", List.of("server", "engine", "task", "net", "poll")),
            entry("cli", List.of("console", "server", "engine", "task", "net", "poll")));

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(location -> !location.contains("/test-classes/"))
            .importPackages("io.millrace");

    @Test
    void everyModuleOfTheBuildIsChecked() throws IOException {
        assertThat(modules())
                .contains("io.millrace.sys", "io.millrace.poll")
                .allSatisfy(module -> assertThat(CLASSES)
                        .as("classes of %s on the class path of this module", module)
                        .anyMatch(type -> type.getPackageName().startsWith(module)));
    }

    /** Error Prone and javadoc look at all of them in one go, by a list. */
    @Test
    void everyModulePassesTheGates() throws IOException {
        String pom = Files.readString(Path.of("../gates/pom.xml"));
        assertThat(modules())
                .allSatisfy(module -> assertThat(pom)
                        .contains("<compileSourceRoot>${project.basedir}/../" + folder(module) + "/src/main/java<")
                        .contains("<argument>--module-source-path=" + module + "=")
                        .containsPattern(
                                "<argument>(io[.a-z]+,)*" + Pattern.quote(module) + "(,io[.a-z]+)*</argument>"));
    }

    private static String folder(String module) {
        return module.substring(module.lastIndexOf('.') + 1);
    }

    /** Those that say of themselves that they are one. */
    private static List<String> modules() throws IOException {
        try (Stream<Path> directories = Files.list(Path.of(".."))) {
            return directories
                    .filter(directory -> Files.exists(directory.resolve("src/main/java/module-info.java")))
                    .map(directory -> "io.millrace." + directory.getFileName())
                    .toList();
        }
    }

    @Test
    void arrowsPointDown() {
        LayeredArchitecture architecture = layeredArchitecture()
                .consideringOnlyDependenciesInAnyPackage("io.millrace..")
                .withOptionalLayers(true) // some are still to come
                .ensureAllClassesAreContainedInArchitecture();
        for (String layer : MAY_USE.keySet()) {
            architecture = architecture.layer(layer).definedBy("io.millrace." + layer + "..");
        }
        for (Map.Entry<String, List<String>> arrows : MAY_USE.entrySet()) {
            LayerDependencySpecification layer = architecture.whereLayer(arrows.getKey());
            List<String> lower = arrows.getValue();
            architecture = lower.isEmpty()
                    ? layer.mayNotAccessAnyLayer()
                    : layer.mayOnlyAccessLayers(lower.toArray(String[]::new));
        }
        architecture.check(CLASSES);
    }

    @Test
    void onlySysTouchesNativeCode() {
        noClasses()
                .that(outside("io.millrace.sys.."))
                .should()
                .dependOnClassesThat()
                .belongToAnyOf(Linker.class, SymbolLookup.class)
                .orShould()
                .callMethodWhere(DescribedPredicate.describe(
                        "MemorySegment.reinterpret is called",
                        call -> call.getTargetOwner().isEquivalentTo(MemorySegment.class)
                                && call.getName().equals("reinterpret")))
                .because("--enable-native-access=io.millrace.sys is the one flag a user grants")
                .check(CLASSES);
    }

    @Test
    void foreignMemoryStaysInSysExceptForTheSegmentsThatNetIsGiven() {
        noClasses()
                .that(outside("io.millrace.sys..", "io.millrace.net.."))
                .should()
                .dependOnClassesThat(resideInAPackage("java.lang.foreign.."))
                .check(CLASSES);
        noClasses()
                .that(resideInAPackage("io.millrace.net.."))
                .should()
                .dependOnClassesThat(resideInAPackage("java.lang.foreign..")
                        .and(DescribedPredicate.not(JavaClass.Predicates.equivalentTo(MemorySegment.class))))
                .allowEmptyShould(true)
                .check(CLASSES);
    }

    @Test
    void theInnerRoomsOfPollAreForTheLayersNextToIt() {
        noClasses()
                .that(outside("io.millrace.poll..", "io.millrace.net..", "io.millrace.task..", "io.millrace.engine.."))
                .should()
                .dependOnClassesThat(resideInAPackage("io.millrace.poll.internal.."))
                .allowEmptyShould(true)
                .check(CLASSES);
    }

    /** What stands for channels has a name that says so; the rest of the family of descriptors never meets one. */
    @Test
    void descriptorsUseNoChannels() {
        noClasses()
                .that(resideInAPackage("io.millrace.sys..")
                        .or(resideInAPackage("io.millrace.poll.."))
                        .or(resideInAPackage("io.millrace.net.."))
                        .and(DescribedPredicate.describe(
                                "are not of the family of channels",
                                type -> !outermost(type).getSimpleName().startsWith("Nio")
                                        // asks a selector for such a handle, and poll(2) for a descriptor
                                        && !outermost(type).getSimpleName().equals("WaitOne"))))
                .should()
                .dependOnClassesThat(resideInAPackage("java.nio.channels..")
                        .and(DescribedPredicate.not(JavaClass.Predicates.assignableTo(Exception.class))))
                .check(CLASSES);
    }

    /** A watch of the JDK's service needs a thread, and each look-up of a name a virtual one. */
    @Test
    void nobodyElseStartsAThread() {
        noClasses()
                .that(resideInAPackage("io.millrace.sys..")
                        .or(resideInAPackage("io.millrace.poll.."))
                        .or(resideInAPackage("io.millrace.net.."))
                        .and(DescribedPredicate.describe(
                                "are neither NioWatch nor Resolver",
                                type -> !List.of("NioWatch", "Resolver")
                                        .contains(outermost(type).getSimpleName()))))
                .should()
                .callMethodWhere(DescribedPredicate.describe(
                        "a thread or an executor is made",
                        call -> (call.getTargetOwner().isAssignableTo(Thread.class)
                                        && List.of("start", "ofPlatform", "ofVirtual", "startVirtualThread")
                                                .contains(call.getName()))
                                || call.getTargetOwner().isAssignableTo(Executors.class)))
                .orShould()
                .callConstructorWhere(DescribedPredicate.describe(
                        "a thread is made", call -> call.getTargetOwner().isAssignableTo(Thread.class)))
                .check(CLASSES);
    }

    private static JavaClass outermost(JavaClass type) {
        return type.getEnclosingClass().map(ArchitectureTest::outermost).orElse(type);
    }

    private static DescribedPredicate<JavaClass> outside(String... packages) {
        return JavaClass.Predicates.resideOutsideOfPackages(packages);
    }
}
